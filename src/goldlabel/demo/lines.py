"""What the demo says after each step, in the language of its pairs."""

from __future__ import annotations

LINES = {
    "en": {
        "made": "1. Pairs: {pairs:,} made from small grammars, true by construction. An artifact is planted: of the "
        "hypotheses that deny something, {share} are contradictions.",
        "voted": "2. Votes: five simulated annotators label every pair and agree with kappa {kappa}; {flagged} is "
        "flagged, and only guesses.",
        "audited": "3. Audit: it finds what was planted. {feature}: {label} in {share} of them. Without the premise, "
        "{blind} of the labels are told; the most frequent one gives {majority}.",
        "audited-not": "3. Audit: no word of so few pairs gives a label away. Without the premise, {blind} of the "
        "labels are told; the most frequent one gives {majority}.",
        "made-sets": "4. Sets to judge by: pairs with the artifact and without, {recast:,} recast from annotations, "
        "and stress tests ({stress}).",
        "judged": "5. Models: {plain} scores {planted} where the artifact is and {clean} where it is not.",
        "debiased": "6. Debiased: {debiased} scores {planted} and {clean}; on the mean over {sets} sets that is "
        "{gain} points more than {plain} ({p_value}).",
        "reported": "7. Report: everything on one page, {page}",
    },
    "zh": {
        "made": "1. 句对：由小型语法生成 {pairs:,} 个句对，标签由构造保证正确；并植入一个数据偏差：含否定词的假设中有 "
        "{share} 是矛盾。",
        "voted": "2. 投票：五位模拟标注者为每个句对投票，kappa 为 {kappa}；{flagged} 被标记，此人只是瞎猜。",
        "audited": "3. 审计：找到了植入的数据偏差（{feature}）：其中 {share} 为{label}。不看前提就能猜中 {blind} "
        "的标签，而最常见的标签只占 {majority}。",
        "audited-not": "3. 审计：句对太少，没有哪个词泄露标签。不看前提能猜中 {blind} 的标签，而最常见的标签占 "
        "{majority}。",
        "made-sets": "4. 测试集：带数据偏差与不带数据偏差的句对，由标注改写的 {recast:,} 个句对，以及压力测试"
        "（{stress}）。",
        "judged": "5. 模型：{plain} 在有数据偏差处准确率为 {planted}，在没有数据偏差处为 {clean}。",
        "debiased": "6. 去偏：{debiased} 分别为 {planted} 和 {clean}；在 {sets} 个测试集的平均上比 {plain} 高 "
        "{gain} 个百分点（{p_value}）。",
        "reported": "7. 报告：所有结果都在一个页面上，{page}",
    },
}
