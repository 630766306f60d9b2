// A library to load before others (LD_PRELOAD), which cuts a program short where it changes files.
//
//   AOTC_KILL_AT=7    the seventh change kills the process; where it is a write, half of it is done
//   AOTC_FULL_AT=7    from the seventh write on the disk is full
#include <dlfcn.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

// What a variable of the environment still allows; -1 where it is not set.
int Allowed(const char* name) {
  const char* text = getenv(name);
  return text == nullptr ? -1 : atoi(text);
}

int changes_left = Allowed("AOTC_KILL_AT");
int writes_left = Allowed("AOTC_FULL_AT");

bool IsLastChange() {
  if (changes_left <= 0) return false;
  --changes_left;
  return changes_left == 0;
}

void Die() { kill(getpid(), SIGKILL); }

bool IsFull() {
  if (writes_left == 0) return true;
  if (writes_left > 0) --writes_left;
  return writes_left == 0;
}

template <typename Function>
Function* Next(const char* name, Function* /*like*/) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// A write to a file, which the last change does half of and a full disk does not.
template <typename Function, typename Bytes, typename Count>
ssize_t Limited(const char* name, Function* like, int file, const Bytes* bytes, Count count) {
  const bool is_counted = file > STDERR_FILENO;
  if (is_counted && IsFull()) {
    errno = ENOSPC;
    return -1;
  }
  const bool is_last = is_counted && IsLastChange();
  const ssize_t done = Next(name, like)(file, bytes, is_last ? count / 2 : count);
  if (is_last) Die();
  return done;
}

}  // namespace

extern "C" {

int rename(const char* from, const char* to) noexcept {
  if (IsLastChange()) Die();
  return Next("rename", &rename)(from, to);
}

int remove(const char* path) noexcept {
  if (IsLastChange()) Die();
  return Next("remove", &remove)(path);
}

ssize_t write(int file, const void* bytes, size_t count) {
  return Limited("write", &write, file, bytes, count);
}

ssize_t writev(int file, const iovec* parts, int count) {
  return Limited("writev", &writev, file, parts, count);
}

}  // extern "C"
