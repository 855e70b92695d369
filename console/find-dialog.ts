import { callApi } from './api.ts'
import { h } from './dom.ts'
import { age, toneOf } from './format.ts'
import { html, render, typed, useEffect, useRef, useState } from './html.ts'
import { titleOf } from './names.ts'
import { pages } from './navigation.ts'
import { isFree } from './parts/keys.ts'
import { listHash, routeHash } from './route.ts'
import { sessionNow } from './session.ts'
import { readViews, viewHash, viewsNamed } from './views.ts'

type Kind = 'actor' | 'tenant' | 'user' | 'agent' | 'knowledge' | 'model' | 'error' | 'tool' | 'request' | 'page'

/** `href`: of a page; `tenant_id`: of a user */
interface Finding {
  readonly kind: Kind
  readonly id: string
  readonly href?: string
  readonly tenant_id?: string | null
  readonly machine?: string | null
  readonly state?: string | null
  readonly label?: string | null
  readonly updated_at?: string | null
}

const waitMs = 120

/** Pages and saved views with such a name. */
const pagesNamed = (project: string, text: string): readonly Finding[] => [
  ...pages(project)
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .map(({ name, href }) => ({ kind: 'page', id: name, href }) as const),
  ...viewsNamed(project, text).map((view) => ({
    ...{ kind: 'page' as const, id: `View ${view.name}`, href: viewHash(project, view) },
  })),
]

/** Kinds whose id is what people write: an error code, a model, the name of a tool. */
const byId = new Set(['error', 'model', 'tool', 'user', 'page'])

const titleIn = ({ kind, id, label = null }: Finding) => (byId.has(kind) ? id : titleOf(id, label))

/** The hash of a search result, by its kind. */
const hashes: Readonly<Record<Kind, (project: string, finding: Finding) => string>> = {
  actor: (project, { id }) => routeHash({ view: 'actor', project, id }),
  tenant: (project, { id }) => listHash({ project, tenant: id }),
  agent: (project, { id }) => routeHash({ view: 'resources', project, query: { kind: 'agents', open: id } }),
  knowledge: (project, { id }) => routeHash({ view: 'knowledge', project, query: { open: id } }),
  model: (project, { id }) => routeHash({ view: 'gateway', project, query: { model: id } }),
  tool: (project, { id }) => listHash({ project, machine: '', tool: id }),
  page: (_, { href = '' }) => href,
  error: (project, { id }) => listHash({ project, machine: '', error: id }),
  request: (project, { id }) => routeHash({ view: 'gateway', project, query: { open: id } }),
  user: (project, { id, tenant_id }) =>
    routeHash({ view: 'memory', project, query: { user: id, tenant: tenant_id ?? '' } }),
}

/** The dialog that finds anything, while a project is shown: opened by ⌘K, Ctrl+K or `/`. */
export const findDialog = () => {
  const dialog = h('dialog', { class: 'find', 'aria-label': 'Find' })
  const open = () => {
    const { project } = sessionNow()
    if (project === null || dialog.open) return
    render(html`<${Find} project=${project} close=${() => dialog.close()} />`, dialog)
    dialog.showModal()
  }
  addEventListener('keydown', (event) => {
    const { key, metaKey, ctrlKey } = event
    const opens = ((metaKey || ctrlKey) && key.toLowerCase() === 'k') || (key === '/' && isFree(event))
    if (!opens || sessionNow().project === null) return
    event.preventDefault()
    open()
  })
  dialog.addEventListener('close', () => render(null, dialog))
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
  return { dialog, open }
}

const Find = ({ project, close }: Props) => {
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly Finding[] | null>(null)
  const [chosen, setChosen] = useState(0)
  const input = useRef<HTMLInputElement | null>(null)
  useEffect(() => {
    input.current?.focus()
    void readViews(project).catch(() => {})
  }, [])
  useEffect(() => {
    const query = text.trim()
    if (query === '') return setFound(null)
    const abort = new AbortController()
    const timer = setTimeout(() => {
      callApi(project, 'observation.find', { query: { q: query }, signal: abort.signal }).then(
        ({ data }) => {
          setFound([...pagesNamed(project, query), ...data])
          setChosen(0)
        },
        () => abort.signal.aborted || setFound([]),
      )
    }, waitMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text])
  const go = (finding: Finding | undefined) => {
    if (finding === undefined) return
    close()
    location.hash = hashes[finding.kind](project, finding)
  }
  const onKey = (event: KeyboardEvent) => {
    const last = (found?.length ?? 0) - 1
    if (event.key === 'Enter') go(found?.[chosen])
    // a search field would only be cleared
    else if (event.key === 'Escape') close()
    else if (event.key === 'ArrowDown') setChosen(Math.min(last, chosen + 1))
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1))
    else return
    event.preventDefault()
  }
  return html`
    <input
      ref=${input} type="search" role="combobox" aria-label="Find" aria-controls="findings" aria-expanded=${(found?.length ?? 0) > 0}
      aria-activedescendant=${found?.length ? `finding-${chosen}` : undefined} autocomplete="off" spellcheck=${false}
      placeholder="A page, a name, an id or a prefix of one, a request, a tool, or an error code" value=${text}
      onInput=${typed(setText)} onKeyDown=${onKey}
    />
    <ul id="findings" class="max-h-[50vh] overflow-auto" role="listbox" aria-label="Found">
      ${found?.map(
        (finding, index) => html`
        <li
          key=${finding.kind + finding.id + finding.tenant_id} id=${`finding-${index}`} role="option" aria-selected=${index === chosen}
          class="row items-baseline gap-x-10 gap-y-2 wrap-anywhere px-16 py-7 cursor-pointer" onClick=${() => go(finding)} onMouseMove=${() => setChosen(index)}
        >
          <span class="muted">${finding.machine ?? finding.kind}</span>
          <span title=${finding.id}>${titleIn(finding)}</span>
          ${finding.kind !== 'actor' && finding.label && finding.label !== titleIn(finding) && html`<span>${finding.label}</span>`}
          ${finding.tenant_id && html`<span class="muted">tenant ${finding.tenant_id}</span>`}
          ${finding.state && html`<span class="chip" data-tone=${toneOf(finding.state)}>${finding.state}</span>`}
          ${finding.updated_at && html`<time class="ml-auto text-soft tabular-nums">${age(finding.updated_at)}</time>`}
        </li>`,
      )}
    </ul>
    <p class="muted px-16 py-7 border-t border-line text-12" role="status">${found?.length === 0 ? 'Nothing found.' : '↑ ↓ to choose, Enter to open, Esc to close'}</p>
  `
}
