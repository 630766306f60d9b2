#include "compiler/bench/program.h"

#include "compiler/support/code_writer.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kMemory = R"(
  #include <stdint.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <string.h>

  #include <algorithm>
  #include <chrono>
  #include <map>
  #include <memory>
  #include <string>
  #include <vector>

  #include "$name$.h"

  namespace {

  [[noreturn]] void fail(const std::string &what) {
    fprintf(stderr, "%s\n", what.c_str());
    exit(1);
  }

  void check(const aotc_model *model, aotc_status status) {
    if (status == AOTC_OK) return;
    fprintf(stderr, "status %d: %s\n", (int)status, model->status_text(status));
    exit(aotc_status_code(status) == AOTC_ERROR_VALUE ? $refused$ : 1);
  }

  // Aligned, and touched before anything is timed.
  std::unique_ptr<char, void (*)(void *)> memory_of(size_t bytes) {
    const size_t rounded = (bytes + 64) / 64 * 64;
    char *memory = (char *)aligned_alloc(64, rounded);
    if (memory == nullptr) fail("no memory");
    memset(memory, 0, rounded);
    return {memory, free};
  }

  uint64_t nanoseconds(void *) {
    return (uint64_t)std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  )";

constexpr std::string_view kTold = R"(
  struct Told {
    int32_t step, worker;
    uint64_t begin, end;
  };

  // What one run tells: each worker has a list of its own.
  struct Watch {
    std::vector<std::vector<Told>> told;
    std::vector<Told> all() const {
      std::vector<Told> result;
      for (const auto &mine : told) result.insert(result.end(), mine.begin(), mine.end());
      return result;
    }
  };

  void note(void *context, int32_t step, int32_t worker, uint64_t begin, uint64_t end) {
    ((Watch *)context)->told[(size_t)worker].push_back({step, worker, begin, end});
  }

  // What a step seems to take that does nothing.
  uint64_t clock_cost() {
    constexpr uint64_t reads = 10000;
    const uint64_t begin = nanoseconds(nullptr);
    for (uint64_t i = 1; i < reads; ++i) nanoseconds(nullptr);
    return (nanoseconds(nullptr) - begin) / reads;
  }

  struct Times {
    const uint64_t clock = clock_cost();
    std::vector<uint64_t> whole, watched;
    std::map<int32_t, std::vector<uint64_t>> steps;
    std::map<int32_t, int> rounds;  // of one worker
    std::vector<Told> timeline;
    uint64_t least = UINT64_MAX;  // of watched runs

    void add(const Watch &watch, uint64_t begin, uint64_t end) {
      std::map<int32_t, uint64_t> busy;
      rounds.clear();
      std::vector<Told> all = watch.all();
      for (Told &told : all) {
        busy[told.step] += std::max(told.end - told.begin, clock) - clock;
        if (told.worker == 0) ++rounds[told.step];
        told.begin -= begin;
        told.end -= begin;
      }
      for (const auto &[step, time] : busy) steps[step].push_back(time);
      if (end - begin < least) timeline = all;
      least = std::min(least, end - begin);
      watched.push_back(end - begin);
    }
  };

  void print(FILE *file, const char *name, const std::vector<uint64_t> &times) {
    fprintf(file, "\"%s\": [", name);
    for (size_t i = 0; i < times.size(); ++i) {
      fprintf(file, "%s%llu", i > 0 ? ", " : "", (unsigned long long)times[i]);
    }
    fprintf(file, "]");
  }

  void write(const Times &times) {
    FILE *file = fopen("times.json", "w");
    if (file == nullptr) fail("times.json cannot be written");
    fprintf(file, "{");
    print(file, "whole", times.whole);
    fprintf(file, ",\n");
    print(file, "watched", times.watched);
    fprintf(file, ",\n\"steps\": {");
    const char *comma = "";
    for (const auto &[step, of_runs] : times.steps) {
      fprintf(file, "%s\n", comma);
      print(file, std::to_string(step).c_str(), of_runs);
      comma = ",";
    }
    fprintf(file, "},\n\"rounds\": {");
    comma = "";
    for (const auto &[step, count] : times.rounds) {
      fprintf(file, "%s\"%d\": %d", comma, (int)step, count);
      comma = ", ";
    }
    fprintf(file, "},\n\"timeline\": [");
    comma = "";
    for (const Told &told : times.timeline) {
      fprintf(file, "%s\n[%d, %d, %llu, %llu]", comma, (int)told.step, (int)told.worker,
              (unsigned long long)told.begin, (unsigned long long)told.end);
      comma = ",";
    }
    fprintf(file, "]}\n");
    if (fclose(file) != 0) fail("times.json cannot be written");
  }
  )";

constexpr std::string_view kMain = R"(
  // What an input holds that shares its memory with an output, and where.
  struct Shared {
    aotc_alias alias;
    aotc_tensor tensor;
    std::vector<char> content;
  };

  // The elements of the input where the pair has them: a run may have written over them.
  void place(const Shared &pair) {
    size_t count = 1;
    for (int32_t i = 0; i < pair.tensor.rank; ++i) count *= (size_t)pair.tensor.dims[i];
    const size_t width = count == 0 ? 0 : pair.content.size() / count;
    for (size_t element = 0; element < count; ++element) {
      size_t rest = element, at = 0;
      for (int32_t i = pair.tensor.rank; i-- > 0; rest /= (size_t)pair.tensor.dims[i]) {
        at += rest % (size_t)pair.tensor.dims[i] * (size_t)pair.alias.strides[i];
      }
      memcpy((char *)pair.tensor.data + at * width, &pair.content[element * width], width);
    }
  }

  // Gives both of each pair the memory of the output.
  std::vector<Shared> share(const aotc_model *model, std::vector<aotc_value> &inputs,
                            const std::vector<aotc_value> &outputs) {
    std::vector<Shared> pairs;
    for (int32_t i = 0; i < model->alias_count; ++i) {
      const aotc_alias &alias = model->aliases[i];
      aotc_tensor &input = inputs[(size_t)alias.input].tensor;
      const aotc_tensor &output = outputs[(size_t)alias.output].tensor;
      const char *data = (const char *)input.data;
      std::vector<char> content(data, data + input.capacity_bytes);
      input.data = output.data;
      input.capacity_bytes = output.capacity_bytes;
      pairs.push_back({alias, input, content});
    }
    return pairs;
  }

  // Rank, dims, elements; what holds the elements.
  std::vector<char> read_input(const char *path, const aotc_value_info &info, aotc_tensor *tensor) {
    FILE *file = fopen(path, "rb");
    if (file == nullptr) fail(std::string(path) + " cannot be read");
    int64_t rank = 0;
    bool complete = fread(&rank, sizeof rank, 1, file) == 1 && rank >= 0 && rank <= AOTC_MAX_RANK;
    complete = complete && fread(tensor->dims, sizeof(int64_t), (size_t)rank, file) == (size_t)rank;
    if (!complete) fail(std::string(path) + " ends early");
    std::vector<char> data(info.max_bytes + 1);
    data.resize(fread(data.data(), 1, data.size(), file));
    fclose(file);
    tensor->rank = (int32_t)rank;
    tensor->dtype = info.dtype;
    return data;
  }

  }  // namespace

  int main(int argc, char **argv) {
    const aotc_model *model = $name$_model();
    if (argc != 3 + model->input_count) fail("WORKERS SECONDS INPUT...");
    const int workers = atoi(argv[1]);
    const uint64_t enough = (uint64_t)(atof(argv[2]) * 1e9);
    std::vector<aotc_value> inputs((size_t)model->input_count + 1);
    std::vector<aotc_value> outputs((size_t)model->output_count + 1);
    std::vector<std::unique_ptr<char, void (*)(void *)>> held;
    for (int32_t i = 0; i < model->input_count; ++i) {
      aotc_tensor &tensor = inputs[(size_t)i].tensor;
      const std::vector<char> data = read_input(argv[3 + i], model->inputs[i], &tensor);
      held.push_back(memory_of(data.size()));
      memcpy(held.back().get(), data.data(), data.size());
      tensor.data = held.back().get();
      tensor.capacity_bytes = data.size();
    }
    for (int32_t i = 0; i < model->output_count; ++i) {
      held.push_back(memory_of(model->outputs[i].max_bytes));
      outputs[(size_t)i].tensor.data = held.back().get();
      outputs[(size_t)i].tensor.capacity_bytes = model->outputs[i].max_bytes;
    }
    const std::vector<Shared> pairs = share(model, inputs, outputs);

    const auto instance = memory_of(model->instance_bytes), arena = memory_of(model->arena_bytes);
    check(model, model->create(instance.get()));
    aotc_parallel pool = {};
    const bool has_pool = workers > 1 && model->pool_create != nullptr;
    if (has_pool) check(model, model->pool_create(workers, &pool));

    Watch watch;
    const aotc_profile profile = {&watch, nanoseconds, note};
    // Nanoseconds from `begin` to the end of the run.
    const auto run = [&](const aotc_profile *told, uint64_t *begin) {
      watch.told.resize((size_t)workers);
      for (auto &of_worker : watch.told) of_worker.clear();
      for (const Shared &pair : pairs) place(pair);
      *begin = nanoseconds(nullptr);
      const aotc_status status =
          $name$_run_profiled(instance.get(), inputs.data(), outputs.data(), arena.get(),
                              has_pool ? &pool : nullptr, told);
      const uint64_t end = nanoseconds(nullptr);
      check(model, status);
      return end;
    };

    Times times;
    uint64_t begin = 0;
    constexpr size_t least_runs = 5;
    const uint64_t start = nanoseconds(nullptr);
    for (const uint64_t warm = start + enough / 10; run(&profile, &begin) < warm;) {
    }
    while (times.whole.size() < least_runs || nanoseconds(nullptr) - start < enough) {
      const uint64_t end = run(nullptr, &begin);
      times.whole.push_back(end - begin);
      const uint64_t watched_end = run(&profile, &begin);
      times.add(watch, begin, watched_end);
    }
    write(times);
    if (has_pool) model->pool_destroy(&pool);
    check(model, model->destroy(instance.get()));
    return 0;
  })";

}  // namespace

std::string BenchProgram(std::string_view prefix) {
  CodeWriter w;
  for (std::string_view part : {kMemory, kTold, kMain}) {
    w.Emit(part, {{"name", std::string(prefix)}, {"refused", StrCat(kBenchRefusedValue)}});
  }
  return w.Take();
}

}  // namespace aotc
