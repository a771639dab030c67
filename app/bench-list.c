// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/bench-open-model.h"
#include "app/bench.h"
#include "app/cli.h"

static const LimnBenchmark *const benchmarks[] = {
    &limn_bench_clip_image, &limn_bench_explain_text, &limn_bench_open_model,
    &limn_bench_gemm_small, &limn_bench_elastic_net,  NULL,
};

int
limn_bench_main(int argc, char **argv)
{
    int status = 0;
    if (limn_bench_open_model_child(&status)) {
        return status;
    }
    g_autoptr(LimnJob) job = limn_cli_job_begin_silent();
    status = limn_bench_main_with("limn-cli", benchmarks, job, NULL, argc, argv);
    limn_cli_job_end();
    return status;
}
