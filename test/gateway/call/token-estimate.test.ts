import { expect, it } from 'vitest'
import { estimateTokens } from '#gateway/call/accounting/token-estimate.ts'

/** Texts with their number of tokens in OpenAI's o200k encoding (gpt-tokenizer 2.9). */
const samples: readonly (readonly [text: string, o200k: number])[] = [
  [
    'The quick brown fox jumps over the lazy dog. Internationalization is difficult, they said; nobody understood why.'.repeat(
      5,
    ),
    106,
  ],
  [
    'Die Geschwindigkeitsbegrenzung gilt für alle Fahrzeuge, außer für Straßenbahnen und Rettungsdienste. Übermäßig lange Wörter.'.repeat(
      5,
    ),
    136,
  ],
  ['Быстрая коричневая лиса перепрыгивает через ленивую собаку. Международные отношения сложны.'.repeat(5), 126],
  ['敏捷的棕色狐狸跳过了懒狗。国际关系很复杂,人们不理解为什么。'.repeat(5), 125],
  ['これは日本語の文章です。トークンの数を数えます。'.repeat(5), 85],
  ['빠른 갈색 여우가 게으른 개를 뛰어넘습니다.'.repeat(5), 85],
  ['الثعلب البني السريع يقفز فوق الكلب الكسول. العلاقات الدولية معقدة.'.repeat(5), 110],
  ['तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है।'.repeat(5), 145],
  ['ፈጣኑ ቡናማ ቀበሮ ሰነፉን ውሻ ዘለለ።'.repeat(5), 215],
  ['Ọ̀rọ̀ àwọn àgbà ni ìmọ̀ràn, ẹ jẹ́ ká gbọ́ wọn dáadáa.'.repeat(5), 140],
  ['😀🎉👩‍👩‍👧🌍'.repeat(10), 130],
  ['3141592653589793238462643383279'.repeat(5), 52],
  ['x'.repeat(4000), 500],
]

it.each(samples)('estimates between one and three times the tokens of a tokenizer: %.20s', (text, o200k) => {
  const tokens = estimateTokens([text])
  expect(tokens).toBeGreaterThanOrEqual(o200k)
  expect(tokens).toBeLessThanOrEqual(3 * o200k)
  expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text))
})

it('estimates no fewer tokens than the length of a text counts', () => {
  expect(estimateTokens(['word '.repeat(400)])).toBe(500)
  expect(estimateTokens(['a b c d ', '        '])).toBeGreaterThanOrEqual(4)
})

it('estimates a long request from a part of it without underestimating', () => {
  const [[text] = ['']] = samples
  const whole = estimateTokens([text]) / text.length
  const long = text.repeat(20_000)
  expect(estimateTokens([long]) / long.length).toBeGreaterThanOrEqual(whole)
  const many = Array.from({ length: 20_000 }, () => text)
  expect(estimateTokens(many) / long.length).toBeGreaterThanOrEqual(whole * 0.9)
  expect(estimateTokens([])).toBe(0)
})
