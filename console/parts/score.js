import { html } from '../html.js'

/**
 * @typedef {{ readonly id: string, readonly reason: string, readonly score?: number | undefined }} LeftOut
 */

/** Parts of a score in words, and whether they are shares of a whole. @type {readonly (readonly [name: string, words: string, share: boolean])[]} */
const known = [
  ['words_found', 'words of the question that it has', true],
  ['words_around', 'with the passages beside it', true],
  ['vector', 'meaning (cosine of the vectors)', true],
  ['window', 'meaning with what stands around it', true],
  ['lexical', 'words by how rare they are (BM25)', false],
  ['group', 'words of the whole it belongs to', false],
  ['rank', 'beside the best of this search', true],
  ['other_person', 'said by someone else than the question names', false],
  ['rival', 'how much the other speaks against it', false],
  ['names_unseen', 'names of the question that nothing has', false],
]

/**
 * What a score is made of, each part in words and as a bar where it is a share.
 *
 * @param {{ of: string, parts: Readonly<Record<string, unknown>> }} props
 */
export const ScoreParts = ({ of, parts }) => {
  const names = known.map(([name]) => name)
  const others = Object.keys(parts).filter((name) => !names.includes(name))
  const shown = [
    ...known.filter(([name]) => parts[name] !== undefined),
    ...others.map((name) => /** @type {const} */ ([name, name.replaceAll('_', ' '), false])),
  ]
  return html`
    <details class="score"><summary>Why this score</summary>
      <dl aria-label=${`Parts of the score of ${of}`}>${shown.map(([name, words, share]) => {
        const value = Number(parts[name])
        const width = `${100 * Math.max(0, Math.min(1, value))}%`
        return html`<div><dt>${words}</dt><dd>${share && html`<span class="sum-bar"><span style=${{ width }}></span></span>`}${share ? `${Math.round(100 * value)} %` : value.toFixed(2)}</dd></div>`
      })}</dl>
    </details>
  `
}

/** A score as a bar. @param {{ score: number }} props */
export const Score = ({ score }) =>
  html`<span class="sum-bar"><span style=${{ width: `${100 * Math.max(0, Math.min(1, score))}%` }}></span></span>${score.toFixed(2)}`

/** What a search left out, and why. @param {{ left: readonly LeftOut[], href: (id: string) => string }} props */
export const LeftOutList = ({ left, href }) =>
  left.length === 0
    ? null
    : html`<details class="panel-part"><summary>${left.length} left out</summary><ul class="left-out">${left.map(
        ({ id, reason, score }) =>
          html`<li><a href=${href(id)}>${id}</a> ${reason.replaceAll('_', ' ')}${score === undefined ? '' : ` (${score.toFixed(2)})`}</li>`,
      )}</ul></details>`
