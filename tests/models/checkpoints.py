"""Tiny random Hugging Face checkpoints, made from configurations and a tokenizer of a few words."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from goldlabel.models.checkpoint import quiet

WORDS = """The owl sleeps in the old barn. A bird is outside. Two ferries left at noon. Nobody swims.
那只苍鹭在睡觉。没有鸟在睡觉。 Three ferries left. البومة نائمة. الطائر نائم."""
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 66,
}
KINDS: dict[str, dict[str, Any]] = {
    "bert": SIZES,
    "electra": SIZES | {"embedding_size": 16},
    "roberta": SIZES | {"type_vocab_size": 1},
    "xlm-roberta": SIZES | {"type_vocab_size": 1},
    "mpnet": SIZES,
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 66},
    "deberta-v2": SIZES
    | {
        "type_vocab_size": 0,
        "relative_attention": True,
        "position_buckets": 8,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
    },
    "modernbert": SIZES | {"local_attention": 8, "global_attn_every_n_layers": 2},
    "xlnet": {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32},
}
"""Every architecture of the suite, in its smallest form."""
# What their tokenizers put around a pair, and the special tokens: padding, unknown, start, separator, mask.
BERT = ("[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", "[CLS] $A [SEP]", ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))
PLAIN = ("[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0", *BERT[1:])
ROBERTA = ("<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0", "<s> $A </s>", ("<pad>", "<unk>", "<s>", "</s>", "<mask>"))
XLNET = ("$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2", "$A <sep> <cls>:2", ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>"))
FRAMES = {"roberta": ROBERTA, "xlm-roberta": ROBERTA, "mpnet": ROBERTA, "xlnet": XLNET, "modernbert": PLAIN}
TYPED = ("bert", "electra", "deberta-v2", "xlnet")


def make_tokenizer(kind: str = "bert") -> PreTrainedTokenizerFast:
    """Make a tokenizer of the words above and their letters, with the special tokens of a kind."""
    pair, single, specials = FRAMES.get(kind, BERT)
    pad, unknown, start, separator, mask = specials
    letters = sorted(set(WORDS.lower() + string.ascii_lowercase + string.digits) - set(string.whitespace))
    words = sorted(set(WORDS.lower().replace(".", "").split()))
    vocabulary = dict.fromkeys([*specials, *letters, *words, *(f"##{letter}" for letter in letters)])
    backend = Tokenizer(models.WordPiece({word: number for number, word in enumerate(vocabulary)}, unk_token=unknown))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    numbers = [(token, backend.token_to_id(token)) for token in specials]
    backend.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=numbers)
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if kind in TYPED else [])]
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=64,
        model_input_names=inputs,
        padding_side="left" if kind == "xlnet" else "right",
        pad_token_type_id=3 if kind == "xlnet" else 0,
        pad_token=pad,
        unk_token=unknown,
        cls_token=start,
        sep_token=separator,
        mask_token=mask,
    )


def make_config(kind: str, tokenizer: PreTrainedTokenizerFast, labels: int = 3, **more: Any) -> Any:
    """Make a configuration that fits the tokenizer; weights are drawn so wide that texts make a difference."""
    wide = {"initializer_range": 0.5, "classifier_dropout": 0.1, "initializer_cutoff_factor": 2.0}
    return transformers.AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        num_labels=labels,
        **wide | KINDS[kind] | more,
    )


def make_classifier(folder: Path, kind: str = "bert", labels: tuple[str, ...] | int = 3, **more: Any) -> Path:
    """Write a random classifier; ``labels`` are the words of its configuration, or how many there are without."""
    tokenizer = make_tokenizer(kind)
    count = labels if isinstance(labels, int) else len(labels)
    config = make_config(kind, tokenizer, count, **more)
    if not isinstance(labels, int):
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: number for number, label in enumerate(labels)}
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(1)
        network = transformers.AutoModelForSequenceClassification.from_config(config)
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder
