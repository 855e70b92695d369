import { callApi } from '../api.ts'
import { html } from '../html.ts'
import { QueryForm } from '../parts/query-form.ts'
import { Found } from '../parts/score.ts'
import { useRead } from '../parts/use-read.ts'
import { hashAt } from '../route.ts'

const fields = [{ name: 'q', label: 'Search', wide: true }] as const
const maxHits = 10

/** A search in a knowledge base, with an explanation of each score. */
export const KnowledgeSearch = ({ place, row: { id } }: { place: Place; row: { id: string } }) => {
  const { q = '' } = place.query
  const read = useRead(q === '' ? '' : `${id} ${q}`, (signal) =>
    callApi(place.project, 'knowledge_bases.search', {
      params: { knowledge_base_id: id },
      body: { query: q, top_k: maxHits, explain: true },
      signal,
    }),
  )
  const columns: Columns<Answers['knowledge_bases.search']['data'][number]> = {
    Source: ({ source_id, citation: { start, end, page, title } }) =>
      html`<a href=${hashAt(place, { child: source_id, from: String(start), chunks: '' })}>${title ?? source_id}</a> <span class="muted">${page === undefined ? '' : `page ${page}, `}characters ${start} to ${end}</span>`,
    Content: ({ heading, content }) =>
      html`${heading !== null && html`<span class="muted">${heading}: </span>`}${content}`,
  }
  const found = { head: `Found for “${q}”`, close: hashAt(place, { q: '' }), left: () => hashAt(place), read, columns }
  return html`
    <${QueryForm} place=${place} label="Search the base" button="Search" fields=${fields} fresh=${['from', 'child']} />
    ${q !== '' && html`<${Found} ...${found} none="No chunk answers this. Try another word, or look whether the sources below are ready." />`}
  `
}
