# The CUDA kernels of tessera_kernels.
target_sources(tessera_kernels PRIVATE
  cuda/atom.cu cuda/grouped_gemm.cu cuda/kernels.cpp cuda/moe.cu cuda/moe_plan.cpp cuda/quantize.cu cuda/route.cu
  cuda/expert_sum.cu
  cuda/dense.cpp cuda/dense_plan.cpp cuda/dense_kernels.cpp cuda/dense_decode.cu cuda/norm.cu cuda/embed.cu cuda/mtp_input.cu
  cuda/select.cu cuda/next_draft.cu
  cuda/delta_net.cpp cuda/delta_net_chunks.cu cuda/delta_net_decode.cu cuda/delta_net_rows.cu cuda/delta_net_states.cu
  cuda/attention.cpp cuda/attention_decode_bf16.cu cuda/attention_decode_e4m3.cu cuda/attention_prefill_bf16.cu
  cuda/attention_prefill_e4m3.cu cuda/sample.cu cuda/sample_stage.cu
  cuda/backend.cpp cuda/blocks.cpp cuda/dummy.cu cuda/live_backend.cpp cuda/memory.cpp cuda/page_move.cpp cuda/pass.cpp cuda/planned_blocks.cpp cuda/planning_backend.cpp cuda/step.cu cuda/upload.cpp)
# One source a family of tiles, so that they compile side by side.
foreach(family "w4a16;2" "w4a16;1" "w4a4;2" "w4a4;1")
  list(GET family 0 path)
  list(GET family 1 blocks_per_sm)
  foreach(format nvfp4 mxfp4)
    foreach(m 64 128 256)
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${path}_${format}_${m}_${blocks_per_sm}.cu)
      configure_file(cuda/family.cu.in ${source} @ONLY)
      target_sources(tessera_kernels PRIVATE ${source})
    endforeach()
  endforeach()
endforeach()
foreach(format bf16 fp8_e4m3)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/w4a16_${format}.cu)
  configure_file(cuda/element_family.cu.in ${source} @ONLY)
  target_sources(tessera_kernels PRIVATE ${source})
endforeach()
foreach(format bf16 fp8_e4m3 nvfp4 mxfp4)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/dense_${format}.cu)
  configure_file(cuda/dense_family.cu.in ${source} @ONLY)
  target_sources(tessera_kernels PRIVATE ${source})
endforeach()
# Layout functions of headers are plain constexpr. Fat binaries stay readable to the test that checks what the compiler
# made of each kernel.
target_compile_options(tessera_kernels PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --compress-mode=none>)
if(TESSERA_RANDOM_DELAYS)
  target_compile_definitions(tessera_kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:TESSERA_RANDOM_DELAYS>)
endif()
