#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#include <onnx/onnx_pb.h>
#include <fstream>
#include <map>
#include "compiler/import/quick_import.h"
#include "compiler/support/strings.h"
namespace aotc {
namespace {
Constant ToConstant(const onnx::TensorProto& t) {
  std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
  DType d = static_cast<DType>(t.data_type());
  int64_t n = 1; for (int64_t x : dims) n *= x;
  std::vector<uint8_t> bytes(n * ByteWidth(d));
  if (!t.raw_data().empty()) { memcpy(bytes.data(), t.raw_data().data(), std::min(bytes.size(), t.raw_data().size())); }
  else for (int64_t i = 0; i < n; ++i) {
    if (d == DType::kF32) StoreElement(d, bytes.data(), i, t.float_data(i));
    else if (d == DType::kI64) StoreIntElement(d, bytes.data(), i, t.int64_data(i));
    else if (d == DType::kF16) { uint16_t v = t.int32_data(i); memcpy(bytes.data() + 2 * i, &v, 2); }
    else if (d == DType::kF64) StoreElement(d, bytes.data(), i, t.double_data(i));
    else StoreIntElement(d, bytes.data(), i, t.int32_data(i));
  }
  return Constant::Dense(d, dims, bytes);
}
}
absl::StatusOr<Graph> QuickImport(const std::string& path, const std::map<std::string, std::pair<int64_t,int64_t>>& dims) {
  onnx::ModelProto m; std::ifstream f(path, std::ios::binary);
  if (!m.ParseFromIstream(&f)) return absl::InvalidArgumentError("parse");
  Graph g; int opset = 0; for (auto& o : m.opset_import()) if (o.domain().empty()) opset = o.version();
  std::map<std::string, ValueId> v;
  for (auto& t : m.graph().initializer()) v[t.name()] = g.AddConstant(t.name(), ToConstant(t));
  for (auto& in : m.graph().input()) {
    if (v.count(in.name())) continue;
    Shape s; for (auto& d : in.type().tensor_type().shape().dim()) {
      if (d.has_dim_value() && d.dim_value() > 0) s.push_back(d.dim_value());
      else { std::string n = d.dim_param().empty() ? "dim" : d.dim_param(); auto it = dims.find(n);
        std::pair<int64_t,int64_t> r = it == dims.end() ? std::pair<int64_t,int64_t>(1, 1) : it->second;
        if (r.first == r.second) s.push_back(r.first); else { bool have = false; for (auto& y : g.symbols) have |= y.name == n;
          if (!have) g.symbols.push_back({n, n, r.first, r.second, 1}); s.push_back(Var(n)); } } }
    ValueId id = g.AddValue(in.name(), TensorType(static_cast<DType>(in.type().tensor_type().elem_type()), s));
    v[in.name()] = id; g.main_region().inputs.push_back(id);
  }
  for (auto& n : m.graph().node()) {
    Node node; node.op = n.op_type();
    for (auto& i : n.input()) node.inputs.push_back(i.empty() ? ValueId() : v.at(i));
    for (auto& a : n.attribute()) {
      if (a.type() == onnx::AttributeProto::INT) node.attributes.Set(a.name(), AttributeValue(int64_t(a.i())));
      if (a.type() == onnx::AttributeProto::FLOAT) node.attributes.Set(a.name(), AttributeValue(a.f()));
      if (a.type() == onnx::AttributeProto::STRING) node.attributes.Set(a.name(), AttributeValue(a.s()));
      if (a.type() == onnx::AttributeProto::INTS) node.attributes.Set(a.name(), AttributeValue(std::vector<int64_t>(a.ints().begin(), a.ints().end())));
      if (a.type() == onnx::AttributeProto::FLOATS) node.attributes.Set(a.name(), AttributeValue(std::vector<float>(a.floats().begin(), a.floats().end())));
      if (a.type() == onnx::AttributeProto::TENSOR) node.attributes.Set(a.name(), AttributeValue(ToConstant(a.t())));
    }
    if (node.op == "Constant") { v[n.output(0)] = g.AddConstant(n.output(0), std::get<Constant>(*node.attributes.Find("value"))); continue; }
    auto ints_to_input = [&](const char* name, size_t at) { if (!node.attributes.Has(name)) return;
      std::vector<int64_t> x = node.attributes.Ints(name); node.attributes.Erase(name);
      while (node.inputs.size() < at) node.inputs.push_back(ValueId());
      node.inputs.insert(node.inputs.begin() + at, g.AddConstant(StrCat(n.output(0), "_", name), Constant::Ints(x))); };
    if (node.op == "Clip" && opset < 11) { for (const char* a : {"min", "max"}) { 
        if (node.attributes.Has(a)) node.inputs.push_back(g.AddConstant(StrCat(n.output(0), a), Constant::Splat(DType::kF32, {}, node.attributes.Float(a)))); else node.inputs.push_back(ValueId());
        node.attributes.Erase(a); } }
    if (node.op == "Squeeze" || node.op == "Unsqueeze" || node.op.starts_with("Reduce")) ints_to_input("axes", 1);
    if (node.op == "Split") ints_to_input("split", 1);
    if (node.op == "Pad") ints_to_input("pads", 1);
    if (node.op == "Slice") { ints_to_input("starts", 1); ints_to_input("ends", 2); ints_to_input("axes", 3); }
    node.locations = {{n.name().empty() ? n.output(0) : n.name(), n.op_type(), opset}};
    for (auto& o : n.output()) { if (o.empty()) { node.outputs.push_back(ValueId()); continue; } ValueId id = g.AddValue(o, ValueType{}); v[o] = id; node.outputs.push_back(id); }
    g.AddNode(g.main, node);
  }
  for (auto& o : m.graph().output()) g.main_region().outputs.push_back(v.at(o.name()));
  return g;
}
}
