import { html } from '../html.ts'
import type { ComponentChildren } from '../vendor/preact.js'
import { ReadPanel } from './panel.ts'
import { Table } from './table.ts'
import type { useRead } from './use-read.ts'

/** Parts of a score with their descriptions, and whether each is a share of a whole. */
const known: readonly (readonly [name: string, words: string, share: boolean])[] = [
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

/** The parts of a score, each with its description, and as a bar if it is a share. */
const ScoreParts = ({ of, parts }: { of: string; parts: Readonly<Record<string, unknown>> }) => {
  const names = known.map(([name]) => name)
  const others = Object.keys(parts).filter((name) => !names.includes(name))
  const shown = [
    ...known.filter(([name]) => parts[name] !== undefined),
    ...others.map((name) => [name, name.replaceAll('_', ' '), false] as const),
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

/** A score as a bar. */
const Score = ({ score }: { score: number }) =>
  html`<span class="whitespace-nowrap"><span class="sum-bar"><span style=${{ width: `${100 * Math.max(0, Math.min(1, score))}%` }}></span></span>${score.toFixed(2)}</span>`

interface Hit {
  readonly id?: string
  readonly chunk_id?: string
  readonly score: number
  readonly parts?: Readonly<Record<string, unknown>> | undefined
}

/** what a search answers; hits of memories are in `results` */
interface Hits<Of> {
  readonly data?: readonly Of[]
  readonly results?: readonly Of[]
  readonly embedder: string | null
  readonly left_out?: readonly Readonly<Record<string, unknown>>[]
}

/** The hits of a search, each with its score explained, and what the search left out. */
export const Found = <Of extends Hit>(props: {
  head: ComponentChildren
  /** address without the search */
  close: string
  read: ReturnType<typeof useRead<Hits<Of>>>
  /** before the score */
  columns: Columns<Of>
  note?: string
  /** what it says without hits */
  none: string
  /** address of what was left out */
  left: (id: string) => string
}) => {
  const { head, close, read, columns, note = '', none, left } = props
  const all: Columns<Of> = {
    ...columns,
    Score: ({ id = '', chunk_id = id, score, parts }) =>
      html`<${Score} score=${score} />${parts && html`<${ScoreParts} of=${chunk_id} parts=${parts} />`}`,
  }
  const show = ({ results = [], data = results, embedder, left_out = [] }: Hits<Of>) => html`
    <p class="panel-part muted">${embedder === null ? 'Keyword search only: no embedder is configured.' : `By words, and by meaning with ${embedder}.`} ${note}</p>
    ${data.length === 0 ? html`<p class="panel-part">${none}</p>` : html`<${Table} label="Hits" columns=${all} rows=${data} />`}
    ${
      left_out.length > 0 &&
      html`<details class="panel-part"><summary>${left_out.length} left out</summary><ul class="pt-6">${left_out.map(
        ({ id, chunk_id = id, reason, score }) =>
          html`<li><a href=${left(String(chunk_id))}>${chunk_id}</a> ${String(reason).replaceAll('_', ' ')}${typeof score === 'number' && ` (${score.toFixed(2)})`}</li>`,
      )}</ul></details>`
    }
  `
  return html`<${ReadPanel} label="Found" head=${head} close=${close} read=${read} show=${show}>
    ${read.data === null && read.error === null && html`<p class="panel-part muted">Searching …</p>`}
  <//>`
}
