# The W4A16 mixture of experts: one source a tile family, so that they compile side by side.
target_sources(tessera_kernels PRIVATE
  cuda/atom.cu cuda/moe.cu cuda/moe_plan.cpp cuda/route.cu cuda/w4a16.cpp cuda/w4a16.cu)
foreach(format nvfp4 mxfp4)
  foreach(family decode_64 decode_128 decode_256 prefill_64 prefill_128 prefill_256)
    target_sources(tessera_kernels PRIVATE cuda/w4a16_${format}_${family}.cu)
  endforeach()
endforeach()
# Layout functions of headers are plain constexpr. Fat binaries stay readable to the test that checks what the compiler
# made of each kernel.
target_compile_options(tessera_kernels PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --compress-mode=none>)
