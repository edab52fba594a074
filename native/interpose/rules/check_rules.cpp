// timpani-rules-check FILE: whether the file holds rules that libtimpani.so takes. Says how many, or what is wrong in
// one line on stderr with exit status 2.

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
