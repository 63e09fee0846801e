#include "tests/support/pretended_stream.hpp"

#include <utility>

namespace lanecast::support {

PretendedStream::PretendedStream() : thread_([this] { run(); }) {}

PretendedStream::~PretendedStream() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PretendedStream::submit(Work work) {
  const std::scoped_lock lock(mutex_);
  queue_.push_back(std::move(work));
  ++submitted_;
  changed_.notify_all();
}

bool PretendedStream::idle() const {
  const std::scoped_lock lock(mutex_);
  return done_ == submitted_;
}

void PretendedStream::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_ == submitted_; });
}

void PretendedStream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

void PretendedEvent::reach() {
  const std::scoped_lock lock(mutex_);
  reached_ = true;
  changed_.notify_all();
}

void PretendedEvent::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return reached_; });
}

}  // namespace lanecast::support
