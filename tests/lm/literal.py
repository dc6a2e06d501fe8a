"""The MUDY paper's equations once more, as slowly and as literally as can be: one
candidate at a time, one number after the other, the whole model run again for each."""

import math

import torch

from spacy_keyphrase.t5 import scales_outputs


def gaussian(x, start, end, layer, s):
    """Eq. 2."""
    if start <= x <= end:
        return 1.0
    sigma = min(s.sigma + layer * s.gamma, s.max_sigma)
    centre = round((start + end) / 2)
    return math.exp(-(((x - centre) / s.scale) ** 2) / (2 * sigma**2))


def mixture(length, start, end, neighbours, layer, s):
    """Eq. 4, divided by its maximum, with the threshold of the code."""
    values = []
    for x in range(length):
        own = 1 - s.share * len(s.neighbours)
        value = own * gaussian(x, start, end, layer, s)
        for centre, width in zip(neighbours, s.neighbours):
            distance = (x - centre) / s.scale
            value += s.share * math.exp(-(distance**2) / (2 * width**2))
        values.append(value)
    values = [value / max(values) for value in values]
    return [value if value >= s.threshold else 0.0 for value in values]


def weights(alignment, blank, start, end, neighbours, layer, s):
    """Eq. 6: alignment of one head, one number per sub-token."""
    length = len(alignment)
    free = [x for x in range(length) if not blank[x]]
    best = sorted(free, key=lambda x: -float(alignment[x]))[: s.top]
    mixed = mixture(length, start, end, neighbours, layer, s)
    return [
        gaussian(x, start, end, layer, s)
        if blank[x]
        else 1.0
        if x in best
        else mixed[x]
        for x in range(length)
    ]


def stabilised(score, weight):
    """Eq. 8."""
    return weight * score if score >= 0 else (1 - weight) * score


def changed_scores(scores, w):
    """Eq. 7 and 8: scores of one head, (rows, length)."""
    result = scores.clone()
    for r in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            result[r, i] = stabilised(float(scores[r, i]), w[i])
    return result


def neighbours(states, spans, stems, n):
    """Eq. 3: centres of the occurrences most similar to each."""
    vectors = [states[s : e + 1].mean(dim=0) for s, e in spans]
    found = []
    for i, vector in enumerate(vectors):
        others = [
            (float(torch.cosine_similarity(vector, other, dim=0)), j)
            for j, other in enumerate(vectors)
            if not stems[i] & stems[j] and j != i
        ]
        best = sorted(others, reverse=True)[:n]
        found.append([(spans[j][0] + spans[j][1]) // 2 for _, j in best])
    return found


def t5_score(model, source_ids, target_ids, scored, change=None):
    """Sum of log-probabilities of a sentence, by T5's modules, for one document and one
    sentence: the encoder is run again.

    change: from layer, head and scores (rows, length) to such scores.
    """
    ids = torch.tensor([source_ids])
    states = model.encoder(input_ids=ids).last_hidden_state[0]
    inputs = [model.config.decoder_start_token_id, *target_ids[1:]]
    hidden = model.decoder.embed_tokens(torch.tensor(inputs))
    n_heads, rows = model.config.num_heads, len(inputs)
    bias = None
    for layer, block in enumerate(model.decoder.block):
        attend, cross, forward = block.layer
        attention = attend.SelfAttention
        if bias is None:
            places = torch.arange(rows)
            buckets = attention._relative_position_bucket(
                places[None] - places[:, None],
                bidirectional=False,
                num_buckets=attention.relative_attention_num_buckets,
                max_distance=attention.relative_attention_max_distance,
            )
            bias = attention.relative_attention_bias(buckets)
        normed = attend.layer_norm(hidden)
        hidden = hidden + attention.o(
            _heads(attention, normed, normed, n_heads, bias, True, None, layer)
        )
        attention = cross.EncDecAttention
        normed = cross.layer_norm(hidden)
        hidden = hidden + attention.o(
            _heads(attention, normed, states, n_heads, None, False, change, layer)
        )
        hidden = forward(hidden[None])[0]
    hidden = model.decoder.final_layer_norm(hidden)
    if scales_outputs(model.config):
        hidden = hidden * model.model_dim**-0.5
    logits = model.lm_head(hidden).log_softmax(dim=-1)
    return sum(float(logits[i - 1, target_ids[i]]) for i in range(*scored))


def _heads(attention, queries, keys, n_heads, bias, causal, change, layer):
    q, k, v = attention.q(queries), attention.k(keys), attention.v(keys)
    width = q.shape[1] // n_heads
    found = []
    for h in range(n_heads):
        own = slice(h * width, (h + 1) * width)
        scores = q[:, own] @ k[:, own].T
        if bias is not None:
            scores = scores + bias[:, :, h]
        if causal:
            later = torch.ones_like(scores, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        if change is not None:
            scores = change(layer, h, scores)
        found.append(scores.softmax(dim=-1) @ v[:, own])
    return torch.cat(found, dim=1)


def causal_score(model, document, sentence, scored, change=None):
    """Sum of log-probabilities of a sentence behind a document, by a decoder-only model
    that reads both together.

    change: from layer, head and scores (length, length), before the mask, to such
    scores.
    """
    import transformers

    def attend(module, query, key, value, mask, scaling=None, softcap=None, **_):
        groups = query.shape[1] // key.shape[1]
        found = []
        for h in range(query.shape[1]):
            k, v = key[0, h // groups], value[0, h // groups]
            scores = query[0, h] @ k.T
            scores = scores * (query.shape[-1] ** -0.5 if scaling is None else scaling)
            if softcap is not None:
                scores = torch.tanh(scores / softcap) * softcap
            if change is not None:
                scores = change(module.layer_idx, h, scores)
            later = torch.ones_like(scores, dtype=torch.bool).triu(1)
            found.append(scores.masked_fill(later, -torch.inf).softmax(dim=-1) @ v)
        return torch.stack(found, dim=1)[None], None

    transformers.AttentionInterface.register("literal", attend)
    transformers.AttentionMaskInterface.register("literal", lambda *_, **__: None)
    before = model.config._attn_implementation
    model.config._attn_implementation = "literal"
    try:
        ids = torch.tensor([[*document, *sentence]])
        logits = model(input_ids=ids).logits[0].log_softmax(dim=-1)
    finally:
        model.config._attn_implementation = before
    first = len(document)
    return sum(float(logits[first + i - 1, sentence[i]]) for i in range(*scored))


def change_document_columns(layer, scores, own, w, length):
    """Eq. 13 and 14: in scores of one head, (places, places), the rows of the sentence
    and the columns of the document.

    own: first row of the candidate in the sentence, and the one after the last; w: from
    layer and alignment (length,) to weights.
    """
    alignment = scores[length + own[0] : length + own[1], :length].mean(dim=0)
    weight = w(layer, alignment)
    result = scores.clone()
    for r in range(length, scores.shape[0]):
        for i in range(length):
            result[r, i] = stabilised(float(scores[r, i]), weight[i])
    return result
