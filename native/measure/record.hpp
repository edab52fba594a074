#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace timpani {

/// The record, open at rank 0 only. A line is written by one call, so that a killed launch leaves whole lines.
class Record {
  public:
    explicit Record(const char* path) : file_(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
        if (file_ < 0) throw std::runtime_error(std::string("the record ") + path + " can't be opened");
    }
    ~Record() { close(file_); }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    void line(const std::string& text) const {
        const std::string whole = text + "\n";
        if (write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) {
            throw std::runtime_error("the record can't be written: is the disk full?");
        }
    }

  private:
    int file_;
};

}  // namespace timpani
