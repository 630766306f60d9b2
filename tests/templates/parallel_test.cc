// Task ranges, the barrier and the pool. Also run under ThreadSanitizer.
#include "aotc/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "aotc/pool.h"

namespace {

TEST(Parallel, RangesCoverAllTasksOnceAndEvenly) {
  for (int64_t tasks = 0; tasks < 50; ++tasks) {
    for (int32_t workers = 1; workers < 10; ++workers) {
      int64_t next = 0;
      for (int32_t worker = 0; worker < workers; ++worker) {
        const aotc_range range = aotc_task_range(tasks, worker, workers);
        ASSERT_EQ(range.begin, next);
        ASSERT_GE(range.end - range.begin, tasks / workers);
        ASSERT_LE(range.end - range.begin, tasks / workers + 1);
        next = range.end;
      }
      ASSERT_EQ(next, tasks);
    }
  }
}

TEST(Parallel, TasksAreLeftToTheFirstWorkers) {
  for (int32_t workers = 1; workers < 10; ++workers) {
    int64_t tasks = 0;
    for (int32_t worker = 0; worker < workers; ++worker) {
      const aotc_range range = aotc_task_range_of(3, 50, worker, workers);
      ASSERT_EQ(range.begin < range.end, worker < 3);
      tasks += range.end - range.begin;
    }
    ASSERT_EQ(tasks, 50);
  }
}

TEST(Parallel, TasksOfStepsWithoutABarrierAreDealtOn) {
  for (int32_t workers = 1; workers < 10; ++workers) {
    for (int64_t first = 0; first < 20; ++first) {
      for (int64_t second = 0; second < 20; ++second) {
        std::vector<bool> taken(workers);
        for (int32_t worker = 0; worker < workers; ++worker) {
          const int32_t turn = aotc_turn(first, worker, workers);
          ASSERT_GE(turn, 0);
          ASSERT_LT(turn, workers);
          ASSERT_FALSE(taken[turn]);
          taken[turn] = true;
          const aotc_range a = aotc_task_range(first, worker, workers);
          const aotc_range b = aotc_task_range(second, turn, workers);
          const int64_t tasks = a.end - a.begin + b.end - b.begin;
          ASSERT_GE(tasks, (first + second) / workers);
          ASSERT_LE(tasks, (first + second) / workers + 1);
        }
      }
    }
  }
}

struct Shared {
  aotc_barrier barrier;
  int32_t workers;
  std::vector<int> counters;  // one a worker: written between barriers, read by all after them
  int mistakes[16];
};

void CountTogether(void* argument, int32_t worker) {
  Shared* shared = static_cast<Shared*>(argument);
  for (int round = 0; round < 300; ++round) {
    shared->counters[worker] = round;
    aotc_barrier_wait(&shared->barrier, shared->workers);
    for (int counter : shared->counters) shared->mistakes[worker] += counter != round;
    aotc_barrier_wait(&shared->barrier, shared->workers);
  }
}

// Also with more workers than cores.
TEST(Parallel, NobodyPassesTheBarrierEarly) {
  for (int32_t workers : {1, 2, 3, 8}) {
    aotc_parallel pool;
    ASSERT_EQ(aotc_pool_create(workers, &pool), AOTC_OK);
    Shared shared = {};
    aotc_barrier_init(&shared.barrier);
    shared.workers = workers;
    shared.counters.resize(workers);
    for (int run = 0; run < 5; ++run) pool.run(pool.context, CountTogether, &shared);
    for (int mistakes : shared.mistakes) EXPECT_EQ(mistakes, 0);
    aotc_pool_destroy(&pool);
  }
}

void AddWorker(void* argument, int32_t worker) {
  __atomic_add_fetch(static_cast<int*>(argument), 1 << (4 * worker), __ATOMIC_RELAXED);
}

TEST(Pool, RunsEachWorkerOnceAlsoAfterSleep) {
  aotc_parallel pool;
  ASSERT_EQ(aotc_pool_create(4, &pool), AOTC_OK);
  EXPECT_EQ(pool.workers, 4);
  for (int run = 0; run < 200; ++run) {
    int sum = 0;
    pool.run(pool.context, AddWorker, &sum);
    ASSERT_EQ(sum, 0x1111);
    if (run % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  aotc_pool_destroy(&pool);
  EXPECT_EQ(pool.context, nullptr);
  aotc_pool_destroy(&pool);
}

TEST(Pool, SecondCallerWaits) {
  aotc_parallel pool;
  ASSERT_EQ(aotc_pool_create(2, &pool), AOTC_OK);
  auto many = [&pool] {
    for (int run = 0; run < 200; ++run) {
      int sum = 0;
      pool.run(pool.context, AddWorker, &sum);
      EXPECT_EQ(sum, 0x11);
    }
  };
  std::thread other(many);
  many();
  other.join();
  aotc_pool_destroy(&pool);
}

TEST(Pool, RefusesImpossibleCounts) {
  aotc_parallel pool;
  EXPECT_EQ(aotc_pool_create(0, &pool), AOTC_ERROR_THREADS);
  EXPECT_EQ(aotc_pool_create(100000, &pool), AOTC_ERROR_THREADS);
  EXPECT_EQ(aotc_pool_create(1, nullptr), AOTC_ERROR_POINTER);
  EXPECT_EQ(pool.context, nullptr);
}

}  // namespace
