"""llama.cpp's C functions inside the installed ``xllamacpp``: all token logits of a text, without torch.

The library's structures belong to one build of llama.cpp. Therefore one version of the package is accepted and no
other, and before the first call the defaults that the library fills into its structures are compared with those of
that build: a field that had moved would not hold its default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from referee.errors import SettingsError
from referee.llm.local import import_runtime

PACKAGE = "xllamacpp"
BUILD = "2026.10.11549"

# Only what is called, in the words of llama.h at build b11549. Pointers that are never followed are `void *`,
# enumerations are `int`: neither changes a size or an offset.
_DECLARATIONS = """
typedef struct {
    void *devices; const void *tensor_buft_overrides;
    int32_t n_gpu_layers; int split_mode; int load_mode; int lazy_mode; int32_t main_gpu;
    const float *tensor_split; void *progress_callback; void *progress_callback_user_data;
    const void *kv_overrides;
    bool vocab_only; bool check_tensors; bool use_extra_bufts; bool no_host; bool no_alloc; bool load_mtp;
} llama_model_params;
typedef struct {
    uint32_t n_ctx; uint32_t n_batch; uint32_t n_ubatch; uint32_t n_seq_max; uint32_t n_rs_seq;
    uint32_t n_outputs_max; uint32_t n_outputs_max_per_seq; int32_t n_threads; int32_t n_threads_batch;
    int ctx_type; int rope_scaling_type; int pooling_type; int attention_type; int flash_attn_type;
    float rope_freq_base; float rope_freq_scale; float yarn_ext_factor; float yarn_attn_factor;
    float yarn_beta_fast; float yarn_beta_slow; uint32_t yarn_orig_ctx; float defrag_thold;
    void *cb_eval; void *cb_eval_user_data; int type_k; int type_v; size_t moe_cache_size;
    void *abort_callback; void *abort_callback_data;
    bool embeddings; bool offload_kqv; bool no_perf; bool op_offload; bool swa_full; bool kv_unified;
    void *samplers; size_t n_samplers; void *ctx_other;
} llama_context_params;
typedef struct {
    int32_t n_tokens; int32_t *token; float *embd; int32_t *pos; int32_t *n_seq_id; int32_t **seq_id; int8_t *logits;
} llama_batch;
llama_model_params llama_model_default_params(void);
llama_context_params llama_context_default_params(void);
void llama_backend_init(void);
void ggml_backend_load_all(void);
void *llama_model_load_from_file(const char *path, llama_model_params params);
void llama_model_free(void *model);
void *llama_init_from_model(void *model, llama_context_params params);
void llama_free(void *context);
const void *llama_model_get_vocab(const void *model);
int32_t llama_vocab_n_tokens(const void *vocab);
int32_t llama_model_n_ctx_train(const void *model);
uint64_t llama_model_n_params(const void *model);
int32_t llama_model_meta_val_str(const void *model, const char *key, char *text, size_t size);
int32_t llama_tokenize(const void *vocab, const char *text, int32_t length, int32_t *tokens, int32_t most,
                       bool add_special, bool parse_special);
llama_batch llama_batch_init(int32_t n_tokens, int32_t embd, int32_t n_seq_max);
void llama_batch_free(llama_batch batch);
int32_t llama_decode(void *context, llama_batch batch);
float *llama_get_logits(void *context);
void *llama_get_memory(const void *context);
void llama_memory_clear(void *memory, bool data);
void llama_log_set(void (*log)(int level, const char *text, void *data), void *data);
"""

# What the build fills in, over both structures from their first field to their last.
_MODEL_DEFAULTS = {
    "n_gpu_layers": -1,
    "split_mode": 1,
    "load_mode": -1,
    "lazy_mode": 1,
    "main_gpu": 0,
    "vocab_only": False,
    "use_extra_bufts": True,
    "load_mtp": False,
}
_CONTEXT_DEFAULTS = {
    "n_ctx": 512,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_seq_max": 1,
    "n_outputs_max_per_seq": 1,
    "rope_scaling_type": -1,
    "pooling_type": -1,
    "attention_type": -1,
    "flash_attn_type": -1,
    "rope_freq_base": 0.0,
    "yarn_ext_factor": -1.0,
    "defrag_thold": -1.0,
    "type_k": 1,
    "type_v": 1,
    "embeddings": False,
    "offload_kqv": True,
    "no_perf": True,
    "op_offload": True,
    "swa_full": True,
    "kv_unified": False,
    "n_samplers": 0,
}


class LlamaLibrary:
    """The opened library.

    Attributes:
        ffi: Makes and reads C data.
        calls: The functions.
    """

    def __init__(self, ffi: Any, calls: Any) -> None:
        self.ffi = ffi
        self.calls = calls
        # The library's own messages go nowhere: errors come back as codes, and the rest is not for users. It keeps the
        # pointer, so the callback must live as long as it does.
        self._silent = ffi.callback("void(int, const char *, void *)", lambda *_: None)
        calls.llama_log_set(self._silent, ffi.NULL)
        calls.llama_backend_init()
        calls.ggml_backend_load_all()


@cache
def llama_library() -> LlamaLibrary:
    """The library of the installed package, opened and checked once a process.

    Raises:
        MissingExtra: The package is not installed.
        SettingsError: It is another build than the one whose structures are known.
    """
    folder, installed = Path(import_runtime().__file__).parent, version(PACKAGE)
    if installed != BUILD:
        raise _other_build(f"version {installed} is installed")
    found = sorted(path for path in folder.glob(f"{PACKAGE}*") if path.suffix in {".so", ".dylib", ".pyd"})
    if not found:
        raise _other_build(f"it has no library in {folder.name!r}")
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    calls = ffi.dlopen(str(found[0]))
    require_defaults(calls.llama_model_default_params(), _MODEL_DEFAULTS)
    require_defaults(calls.llama_context_default_params(), _CONTEXT_DEFAULTS)
    return LlamaLibrary(ffi, calls)


def require_defaults(structure: Any, expected: Mapping[str, float]) -> None:
    """Refuse a library whose structures do not hold what the known build fills into them.

    Raises:
        SettingsError: A field holds something else.
    """
    for name, value in expected.items():
        found = getattr(structure, name)
        if not math.isclose(float(found), float(value), abs_tol=1e-12):
            raise _other_build(f"its field {name!r} holds {found!r} and not {value!r}")


def _other_build(cause: str) -> SettingsError:
    return SettingsError(
        f"token logits are read from the structures of {PACKAGE} {BUILD} and of no other build: {cause}.",
        hint=f"Run `pip install {PACKAGE}=={BUILD}`.",
    )
