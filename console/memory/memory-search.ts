import { callApi } from '../api.ts'
import { html } from '../html.ts'
import { nothing } from '../parts/cells.ts'
import { Found } from '../parts/score.ts'
import { useRead } from '../parts/use-read.ts'
import { hashAt } from '../route.ts'

const maxHits = 20

/** Memories that answer a search, with an explanation of each score. */
export const MemorySearch = ({ place }: { place: Place }) => {
  const { user = '', tenant = '', q = '', as_of = '' } = place.query
  const read = useRead(`${tenant} ${user} ${q} ${as_of}`, (signal) => {
    // a time without a zone is in the user's own
    const asOf = as_of === '' ? {} : { asOf: new Date(as_of).toISOString() }
    const body = { userId: user, query: q, topK: maxHits, threshold: 0, explain: true, ...asOf }
    return callApi(place.project, 'memory.search', { body, tenant, signal })
  })
  const columns: Columns<Answers['memory.search']['results'][number]> = {
    Memory: ({ id, content }) => html`<a href=${hashAt(place, { open: id })} title=${id} data-id=${id}>${content}</a>`,
    'Matched by': ({ source, hops }) => {
      if (source === 'graph') return `${hops ?? 1} relations away`
      return source === 'vector' ? 'keywords and meaning' : 'words'
    },
    Scope: ({ scope, sessionId, namespace }) => [scope, sessionId, namespace].filter(Boolean).join(' · ') || nothing,
    Observed: ({ observed_at: at }) => (at === null ? nothing : html`<time datetime=${at}>${at.slice(0, 10)}</time>`),
  }
  const head = html`Found for “${q}”${as_of !== '' && html` <span class="muted">as it was known to be at ${as_of.replace('T', ' ')}</span>`}`
  const left = (id: string) => hashAt(place, { open: id })
  return html`<${Found} head=${head} close=${hashAt(place, { q: '', as_of: '' })} read=${read} columns=${columns} left=${left}
    note="Turns receive hits with a score of 0.7 or more." none="Nothing answers this. Try another word, or another time." />`
}
