// dev: model -> kernels only (no plan): checks pipeline
#include <fstream>
#include <iostream>
#include "compiler/import/quick_import.h"
#include "compiler/fuse/fuse.h"
#include "compiler/layout/choose_layouts.h"
#include "compiler/lower/build_program.h"
#include "compiler/ops/op.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cuda/cuda_target.h"
using namespace aotc;
int main(int argc, char** argv) {
  auto g = QuickImport(argv[1], {});
  if (!g.ok()) { std::cerr << g.status() << "\n"; return 1; }
  // types only
  for (NodeId id : g->main_region().nodes) {
    auto k = BuildNodeKernel(*g, g->nodes[id]);
    if (!k.ok()) { std::cerr << g->nodes[id].op << " " << Describe(g->nodes[id].locations[0]) << k.status() << "\n"; return 1; }
    size_t o = 0;
    for (TensorId t : k->kernel.params) if (k->kernel.tensors[t].role == TensorRole::kOutput) { 
      g->values[k->outputs[o++]].type = TensorType(k->kernel.tensors[t].dtype, k->kernel.tensors[t].shape); }
  }
  bool cuda = argc > 2 && std::string(argv[2]) == "cuda";
  auto laid = ChooseLayouts(*g, {.block = cuda ? 0 : 16});
  if (!laid.ok()) { std::cerr << laid.status() << "\n"; return 1; }
  auto fused = Fuse(*laid, {.veto = cuda ? CudaFusionVeto : CpuFusionVeto});
  if (!fused.ok()) { std::cerr << fused.status() << "\n"; return 1; }
  auto isas = *ParseCpuList("x86-64-v4");
  auto program = BuildProgram(*laid, *fused, [&](Kernel k) { return cuda ? ScheduleOnCuda(k, {}) : ScheduleOnCpu(k, {.isas = isas}); });
  if (!program.ok()) { std::cerr << program.status() << "\n"; return 1; }
  if (cuda) { std::vector<const ProgramKernel*> ks; for (auto& k : program->kernels) ks.push_back(&k); std::cout << EmitCudaKernels(ks, "m"); return 0; }
  std::vector<CpuKernelRef> refs; for (auto& k : program->kernels) refs.push_back({&k, &k.variants[0]});
  std::cout << EmitCpuKernels(refs, isas[0], "m");
  for (auto& d : fused->decisions) std::cerr << d << "\n";
}
