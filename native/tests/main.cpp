#include "tests/check.hpp"

int main() { return timpani::test::run_all(); }
