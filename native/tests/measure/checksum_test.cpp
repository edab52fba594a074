#include "measure/files/record.hpp"
#include "tests/check.hpp"

TEST(a_checksum_is_that_of_gzip) {
    CHECK(timpani::crc32("") == 0);
    CHECK(timpani::crc32("123456789") == 0xCBF43926U);  // the check value of ISO 3309's CRC-32
}
