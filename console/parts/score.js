import { html } from '../html.js'

/** @typedef {{ readonly id: string, readonly reason: string, readonly score?: number | undefined }} LeftOut */

/** Parts of a score with their descriptions, and whether each is a share of a whole. @type {readonly (readonly [name: string, words: string, share: boolean])[]} */
const known = [
  ['words_found', 'share of the query words it contains', true],
  ['words_around', 'including neighbouring passages', true],
  ['vector', 'similarity of meaning (cosine)', true],
  ['window', 'similarity of meaning in context', true],
  ['lexical', 'keywords weighted by rarity (BM25)', false],
  ['group', 'keywords of the document or session it belongs to', false],
  ['rank', 'relative to the best hit', true],
  ['other_person', 'said by another speaker than the query names', false],
  ['rival', 'how much another speaker outweighs it', false],
  ['names_unseen', 'names in the query that occur nowhere', false],
]

/** The parts of a score, each with its description, and as a bar if it is a share. @param {{ of: string, parts: Readonly<Record<string, unknown>> }} props */
export const ScoreParts = ({ of, parts }) => {
  const names = known.map(([name]) => name)
  const others = Object.keys(parts).filter((name) => !names.includes(name))
  const shown = [
    ...known.filter(([name]) => parts[name] !== undefined),
    ...others.map((name) => /** @type {const} */ ([name, name.replaceAll('_', ' '), false])),
  ]
  return html`
    <details class="score"><summary>Why this score</summary>
      <dl class="grid gap-2 my-4" aria-label=${`Parts of the score of ${of}`}>${shown.map(([name, words, share]) => {
        const value = Number(parts[name])
        const width = `${100 * Math.max(0, Math.min(1, value))}%`
        return html`<div class="row items-baseline gap-x-10 gap-y-2 wrap-anywhere justify-between"><dt>${words}</dt><dd class="whitespace-nowrap">${share && html`<span class="sum-bar"><span style=${{ width }}></span></span>`}${share ? `${Math.round(100 * value)} %` : value.toFixed(2)}</dd></div>`
      })}</dl>
    </details>
  `
}

/** A score as a bar. @param {{ score: number }} props */
export const Score = ({ score }) =>
  html`<span class="whitespace-nowrap"><span class="sum-bar"><span style=${{ width: `${100 * Math.max(0, Math.min(1, score))}%` }}></span></span>${score.toFixed(2)}</span>`

/** Results that a search left out, with reasons. @param {{ left: readonly LeftOut[], href: (id: string) => string }} props */
export const LeftOutList = ({ left, href }) =>
  left.length === 0
    ? null
    : html`<details class="panel-part"><summary>${left.length} left out</summary><ul class="pt-6">${left.map(
        ({ id, reason, score }) =>
          html`<li><a href=${href(id)}>${id}</a> ${reason.replaceAll('_', ' ')}${score === undefined ? '' : ` (${score.toFixed(2)})`}</li>`,
      )}</ul></details>`
