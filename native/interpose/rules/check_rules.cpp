// timpani-rules-check FILE: whether libtimpani.so accepts the rules in the file. Prints their number. If they are
// invalid, prints one line on stderr that says why, and exits with status 2.

#include <exception>
#include <iostream>
#include <string>

#include "interpose/rules/rules.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: timpani-rules-check FILE\n";
        return 2;
    }
    try {
        std::cout << timpani::read_rules(timpani::text_of_rules(argv[1])).size() << " rules\n";
        return 0;
    } catch (const std::exception& error) {
        std::cerr << argv[1] << ": " << error.what() << '\n';
        return 2;
    }
}
