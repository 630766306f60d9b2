// example/main.cpp: runs the model on files through the table.
#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kOpening = R"(
  // Runs the model $name$ on files:
  //
  //   $name$_example [--repeat N] [--workers N] [--weights FILE] INPUT...
  //
  // One file per input, .npy or the raw bytes of the tensor; a missing one is filled with zeros. Raw
  // files have the largest dims. Each output goes to output_K.npy in the current folder; times are printed.
  #include <stdio.h>
  #include <stdlib.h>
  #include <string.h>

  #include <chrono>
  #include <string>
  #include <vector>

  #include "$name$.h"

  namespace {

  // Memory aligned to 64 bytes.
  struct Memory {
    std::vector<char> bytes;
    explicit Memory(size_t size = 0) : bytes(size + 63) {}
    void *data() {
      const size_t address = (size_t)bytes.data();
      return bytes.data() + (64 - address % 64) % 64;
    }
  };

  bool read_file(const std::string &path, std::string *content) {
    FILE *file = fopen(path.c_str(), "rb");
    if (file == nullptr) return false;
    char block[65536];
    size_t count;
    while ((count = fread(block, 1, sizeof block, file)) > 0) content->append(block, count);
    return fclose(file) == 0;
  }

  // numpy's name of an ONNX element type; "" where it has none.
  const char *numpy_type(int32_t dtype) {
    static const char *const names[] = {"",    "<f4", "|u1", "|i1", "<u2", "<i2", "<i4",
                                        "<i8", "",    "|b1", "<f2", "<f8", "<u4", "<u8"};
    return dtype > 0 && dtype < 14 ? names[dtype] : "";
  }
  )";

constexpr std::string_view kFiles = R"(
  // Splits a .npy file into type, dims and data; anything else is data alone, without a type.
  // False: a broken header.
  bool parse_npy(std::string *content, std::string *type, std::vector<int64_t> *dims) {
    if (content->compare(0, 6, "\x93NUMPY") != 0) return true;
    if (content->size() < 12) return false;
    const unsigned char *head = (const unsigned char *)content->data();
    const bool first_version = head[6] == 1;
    size_t length = head[8] + 256u * head[9];
    if (!first_version) length += 65536u * head[10];
    const size_t start = first_version ? 10 : 12;
    if (content->size() < start + length) return false;
    const std::string header = content->substr(start, length);
    if (header.find("'fortran_order': False") == std::string::npos) return false;
    const size_t descr = header.find("'descr': '");
    const size_t open = header.find('(');
    const size_t close = header.find(')');
    if (descr == std::string::npos || open == std::string::npos || close == std::string::npos) {
      return false;
    }
    *type = header.substr(descr + 10, header.find('\'', descr + 10) - descr - 10);
    for (const char *at = header.c_str() + open + 1; at < header.c_str() + close; ++at) {
      char *end;
      const long long dim = strtoll(at, &end, 10);
      if (end != at) dims->push_back(dim);
      at = end;
      while (*at != ',' && *at != ')') ++at;
    }
    content->erase(0, start + length);
    return true;
  }

  bool write_npy(const std::string &path, const aotc_tensor &tensor, size_t bytes) {
    std::string shape;
    for (int32_t i = 0; i < tensor.rank; ++i) shape += std::to_string(tensor.dims[i]) + ", ";
    const std::string type = numpy_type(tensor.dtype);
    std::string header = "{'descr': '" + (type.empty() ? "|u1" : type) +
                         "', 'fortran_order': False, 'shape': (" +
                         (type.empty() ? std::to_string(bytes) + "," : shape) + "), }";
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    FILE *file = fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    const unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0,
                                   (unsigned char)(header.size() % 256),
                                   (unsigned char)(header.size() / 256)};
    fwrite(start, 1, sizeof start, file);
    fwrite(header.data(), 1, header.size(), file);
    if (bytes > 0) fwrite(tensor.data, 1, bytes, file);
    return fclose(file) == 0;
  }
  )";

constexpr std::string_view kMain = R"(
  size_t bytes_of(const aotc_tensor &tensor) {
    static const unsigned char bits_of_types[] = {  // by ONNX element type
        $bits$};
    if (tensor.dtype < 0 || tensor.dtype >= (int)sizeof(bits_of_types)) return 0;
    size_t bits = bits_of_types[tensor.dtype];
    for (int32_t i = 0; i < tensor.rank; ++i) bits *= (size_t)tensor.dims[i];
    return (bits + 7) / 8;
  }
  $strided$
  int fail(const char *what, const char *why) {
    fprintf(stderr, "error: %s: %s\n", what, why);
    return 1;
  }

  // Fills one input from a file, or with zeros; dims come from the .npy header.
  int load_input(const aotc_value_info &info, const char *path, aotc_value *value, Memory *memory) {
    std::string content;
    std::string type;
    std::vector<int64_t> dims;
    if (path != nullptr && !read_file(path, &content)) return fail(path, "cannot be read");
    if (!parse_npy(&content, &type, &dims)) return fail(path, "not a .npy file that this program reads");
    const std::string wanted = numpy_type(info.dtype);
    if (!type.empty() && !wanted.empty() && type != wanted) {
      return fail(path, ("holds elements of type " + type + ", not " + wanted).c_str());
    }
    if (content.size() > info.max_bytes) return fail(path, "larger than the input");
    *memory = Memory(info.max_bytes);
    memcpy(memory->data(), content.data(), content.size());
    value->kind = info.kind;
    value->tensor.data = memory->data();
    value->tensor.capacity_bytes = dims.empty() ? info.max_bytes : content.size();
    value->tensor.dtype = info.dtype;
    value->tensor.rank = info.rank;
    if (!dims.empty() && (int32_t)dims.size() != info.rank) return fail(path, "not of the input's rank");
    for (int32_t i = 0; i < info.rank; ++i) {
      value->tensor.dims[i] = dims.empty() ? info.max_dims[i] : dims[(size_t)i];
    }
    return 0;
  }

  }  // namespace

  int main(int argc, char **argv) {
    const aotc_model *model = $name$_model();
    int repeat = 1, workers = 1;
    const char *weights_path = nullptr;
    std::vector<const char *> paths;
    for (int i = 1; i < argc; ++i) {
      if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc) {
        repeat = atoi(argv[++i]);
      } else if (strcmp(argv[i], "--workers") == 0 && i + 1 < argc) {
        workers = atoi(argv[++i]);
      } else if (strcmp(argv[i], "--weights") == 0 && i + 1 < argc) {
        weights_path = argv[++i];
      } else {
        paths.push_back(argv[i]);
      }
    }
    if ((int)paths.size() > model->input_count) return fail("arguments", "more files than inputs");
    paths.resize((size_t)model->input_count, nullptr);

    std::vector<aotc_value> inputs((size_t)model->input_count), outputs((size_t)model->output_count);
    std::vector<Memory> memories(inputs.size() + outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (load_input(model->inputs[i], paths[i], &inputs[i], &memories[i]) != 0) return 1;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      Memory &memory = memories[inputs.size() + i];
      memory = Memory(model->outputs[i].max_bytes);
      outputs[i].tensor.data = memory.data();
      outputs[i].tensor.capacity_bytes = model->outputs[i].max_bytes;
    }
    $share$

    Memory instance(model->instance_bytes), arena(model->arena_bytes), weights;
    aotc_status status = model->create(instance.data());
    if (status != AOTC_OK) return fail("create", model->status_text(status));
    if (model->set_weights != nullptr) {
      std::string content;
      if (weights_path == nullptr || !read_file(weights_path, &content)) {
        return fail("--weights", "give the file of weights");
      }
      weights = Memory(content.size());
      memcpy(weights.data(), content.data(), content.size());
      status = model->set_weights(instance.data(), weights.data(), content.size());
      if (status != AOTC_OK) return fail(weights_path, model->status_text(status));
    }
    aotc_parallel pool = {};
    if (workers > 1 && model->pool_create != nullptr) {
      status = model->pool_create(workers, &pool);
      if (status != AOTC_OK) return fail("--workers", model->status_text(status));
    }

    double best = 0, sum = 0;
    for (int i = 0; i < (repeat < 1 ? 1 : repeat); ++i) {
      const auto start = std::chrono::steady_clock::now();
      status = model->run(instance.data(), inputs.data(), outputs.data(), arena.data(),
                          pool.run != nullptr ? &pool : nullptr);
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      if (status != AOTC_OK) return fail("run", model->status_text(status));
      best = i == 0 || time.count() < best ? time.count() : best;
      sum += time.count();
    }
    printf("%d runs: best %.3f ms, mean %.3f ms\n", repeat, best, sum / (repeat < 1 ? 1 : repeat));

    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string path = "output_" + std::to_string(i) + ".npy";
      $result$
      if (!write_npy(path, tensor, bytes_of(tensor))) {
        return fail(path.c_str(), "cannot be written");
      }
      printf("%s: %s\n", path.c_str(), model->outputs[i].name);
    }
    if (pool.run != nullptr) model->pool_destroy(&pool);
    status = model->destroy(instance.data());
    return status == AOTC_OK ? 0 : fail("destroy", model->status_text(status));
  })";

// The bits of an element of each ONNX element type, in the order of their numbers.
std::string BitsOfTypes() {
  std::vector<std::string> bits = {"0"};
  for (int type = 1; IsKnownDType(type); ++type) {
    const DType dtype = static_cast<DType>(type);
    bits.push_back(dtype == DType::kString ? "8 * sizeof(aotc_string)" : StrCat(BitWidth(dtype)));
  }
  return StrJoin(bits, ", ");
}

// Where inputs and outputs share memory: elements lie there with the strides of the pair.
constexpr std::string_view kStrided = R"(

  // The pair that an output belongs to; null where it has a memory of its own.
  const aotc_alias *alias_of(const aotc_model *model, size_t output) {
    for (int32_t i = 0; i < model->alias_count; ++i) {
      if (model->aliases[i].output == (int32_t)output) return &model->aliases[i];
    }
    return nullptr;
  }

  // Moves the elements of a tensor between the memory of a pair and memory where they lie together.
  void move(const aotc_tensor &tensor, const aotc_alias &alias, char *strided, char *dense, bool out) {
    size_t count = 1;
    for (int32_t i = 0; i < tensor.rank; ++i) count *= (size_t)tensor.dims[i];
    const size_t width = count == 0 ? 0 : bytes_of(tensor) / count;
    for (size_t element = 0; element < count; ++element) {
      size_t rest = element, place = 0;
      for (int32_t i = tensor.rank; i-- > 0; rest /= (size_t)tensor.dims[i]) {
        place += rest % (size_t)tensor.dims[i] * (size_t)alias.strides[i];
      }
      char *there = strided + place * width, *here = dense + element * width;
      memcpy(out ? here : there, out ? there : here, width);
    }
  }
  )";

constexpr std::string_view kShare = R"(
    // Both of a pair are the input's memory.
    for (int32_t i = 0; i < model->alias_count; ++i) {
      const aotc_alias &alias = model->aliases[i];
      aotc_tensor &input = inputs[(size_t)alias.input].tensor;
      const std::string content((const char *)input.data, bytes_of(input));
      input.capacity_bytes = model->inputs[alias.input].max_bytes;
      outputs[(size_t)alias.output].tensor = input;
      move(input, alias, (char *)input.data, (char *)content.data(), false);
    })";

constexpr std::string_view kResult = R"(
      aotc_tensor tensor = outputs[i].tensor;
      Memory dense(bytes_of(tensor));
      if (const aotc_alias *alias = alias_of(model, i)) {
        move(tensor, *alias, (char *)tensor.data, (char *)dense.data(), true);
        tensor.data = dense.data();
      })";

}  // namespace

std::string EmitExample(const EmitContext& context) {
  const bool shares = !context.interface.aliases.empty();
  CodeWriter w;
  for (std::string_view part : {kOpening, kFiles, kMain}) {
    w.Emit(part, {{"name", context.interface.prefix},
                  {"bits", BitsOfTypes()},
                  {"strided", shares ? std::string(kStrided) : ""},
                  {"share", shares ? std::string(kShare) : ""},
                  {"result", shares ? std::string(kResult)
                                    : "const aotc_tensor &tensor = outputs[i].tensor;"}});
  }
  return w.Take();
}

}  // namespace aotc
