import { newestEvents } from '../actor-source.ts'
import type { Action as Waiting } from '../answers.d.ts'
import { callApi, wordsOf } from '../api.ts'
import { Approval, riskChip } from '../approval-form.ts'
import { age, ahead, time } from '../format.ts'
import { html, typed, useEffect, useState } from '../html.ts'
import { ActorLink } from '../linked-ids.ts'
import { livePage } from '../live-page.ts'
import { nameOf, titleOf } from '../names.ts'
import { Choices } from '../parts/choices.ts'
import { Empty } from '../parts/empty.ts'
import { isFree } from '../parts/keys.ts'
import { argumentsText } from '../parts/turned-text.ts'
import { useRead } from '../parts/use-read.ts'
import { hashAt, listHash } from '../route.ts'
import { sessionNow } from '../session.ts'
import { Sums, TalkPanel } from '../talk-panel.ts'
import { type Member, nameIn, ReviewPanel } from './review-panel.ts'

type Listed = Answers['actions.list'] & { readonly members: readonly Member[] }

const max = 100
const shownEvents = 100

/** Which calls a list shows: its name, its query, and what it says when it is empty. */
type List = readonly [string, (me: string) => object, string]

const open: List = ['Open', () => ({ snoozed: false }), 'No call waits for a decision.']
const lists: Readonly<Record<string, List>> = {
  '': open,
  mine: ['Mine', (me) => ({ assignee_id: me, snoozed: false }), 'No call waits for you.'],
  unassigned: ['Unassigned', () => ({ unassigned: true, snoozed: false }), 'Every waiting call has an assignee.'],
  snoozed: ['Snoozed', () => ({ snoozed: true }), 'No call is snoozed.'],
}

const listNames = Object.fromEntries(Object.entries(lists).map(([show, [name]]) => [show, name]))

/** All calls that wait for a decision, with what led to each. */
export const approvalsPage = livePage({
  everyMs: 2_000,
  read: async (place: Place, before: Listed | null): Promise<Listed> => {
    const [, queryOf] = listOf(place)
    const query = { status: 'pending_approval', limit: max, ...queryOf(sessionNow().member) }
    const [listed, members] = await Promise.all([
      callApi(place.project, 'actions.list', { query }),
      before?.members ??
        callApi(place.project, 'project_members.list', { query: { limit: max } }).then(({ data }) => data),
    ])
    return { ...listed, members }
  },
  show: ({ place, data, done }) => html`<${Inbox} place=${place} listed=${data} done=${done} />`,
})

const listOf = ({ query: { show = '' } }: Place) => lists[show] ?? open

const Inbox = ({ place, listed: { data, next_cursor, members }, done }: Props & { listed: Listed }) => {
  const [picked, setPicked] = useState<readonly string[]>([])
  const [outcome, setOutcome] = useState('')
  const [reason, setReason] = useState('')
  const { decides } = sessionNow()
  const [at, setAt] = useState(place.query.action)
  const chosen = data.find(({ id }) => id === at) ?? data[0]
  /** The address follows without a navigation, which would forget the marks. */
  const choose = (action: string) => {
    setAt(action)
    history.replaceState(null, '', hashAt(place, { action }))
  }
  const marked = picked.filter((id) => data.some((each) => each.id === id))
  const targets = marked.length > 0 ? marked : chosen === undefined ? [] : [chosen.id]
  const decide = async (verb: 'approve' | 'reject') => {
    if (!decides || targets.length === 0) return
    const why = reason === '' ? {} : verb === 'approve' ? { note: reason } : { reason }
    const results = await Promise.allSettled(
      targets.map((action_id) => callApi(place.project, `actions.${verb}`, { params: { action_id }, body: why })),
    )
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [wordsOf(result.reason)] : []))
    const verbed = verb === 'approve' ? 'approved' : 'rejected'
    setOutcome([`${results.length - refused.length} ${verbed}.`, ...new Set(refused)].join(' '))
    setPicked([])
    done()
  }
  const move = (by: number) => {
    const next = data[data.findIndex(({ id }) => id === chosen?.id) + by]
    if (next !== undefined) choose(next.id)
  }
  const toggle = (id: string) => setPicked(picked.includes(id) ? picked.filter((each) => each !== id) : [...picked, id])
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => chosen !== undefined && toggle(chosen.id),
    a: () => void decide('approve'),
    r: () => void decide('reject'),
  })
  return html`
    <div class="view-head">
      <h1>Approvals</h1>
      <span class="muted">${data.length}${next_cursor === null ? '' : '+'} waiting <span class="ml-6 max-tablet:hidden"><kbd>j</kbd> <kbd>k</kbd> choose, <kbd>x</kbd> mark, <kbd>a</kbd> approve, <kbd>r</kbd> reject</span></span>
      <span role="status">${outcome}</span>
    </div>
    <${Choices} kinds label="Which calls" values=${listNames} now=${place.query.show ?? ''} to=${(show: string) => hashAt(place, { show, action: '' })} />
    ${
      chosen === undefined
        ? html`<${Empty} drawn="approvals" title=${listOf(place)[2]}><p>Calls of tools that need an approval appear here, with what led to them. They can be assigned, snoozed and commented.</p><//>`
        : html`
      ${
        decides &&
        html`<div class="row min-h-42 px-(--gutter) pb-12" role="group" aria-label="Marked calls">
          <label class="tick"><input type="checkbox" checked=${marked.length === data.length} onChange=${() => setPicked(marked.length === data.length ? [] : data.map(({ id }) => id))} /> All</label>
          ${
            marked.length === 0
              ? html`<span class="muted">Mark calls to decide several together.</span>`
              : html`<input class="flex-[1_1_12em] max-w-[26em]" aria-label="Reason for the marked calls" placeholder="Reason, for the audit log" maxlength="4096" value=${reason} onInput=${typed(setReason)} />
          <button type="button" onClick=${() => decide('approve')}>Approve ${marked.length}</button>
          <button type="button" class="quiet" onClick=${() => decide('reject')}>Reject ${marked.length}</button>`
          }
        </div>`
      }
      <div class="grid grid-cols-[minmax(260px,5fr)_minmax(0,8fr)] max-tablet:grid-cols-1 gap-16 items-start mx-(--gutter)">
        <ul class="inbox-list card overflow-hidden" aria-label="Waiting calls">
          ${data.map((action) => html`<${Item} key=${action.id} place=${place} action=${action} chosen=${action.id === chosen.id} marked=${marked.includes(action.id)} members=${members} toggle=${decides ? toggle : null} choose=${choose} />`)}
        </ul>
        <${Detail} key=${chosen.id} place=${place} action=${chosen} members=${members} done=${done} />
      </div>`
    }
  `
}

/** Keys that act while no field has the focus. */
const useKeys = (keys: Readonly<Record<string, () => void>>) =>
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = keys[event.key]
      if (act === undefined || !isFree(event)) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })

const Item = (
  props: Props & {
    action: Waiting
    marked: boolean
    members: readonly Member[]
    chosen: boolean
    toggle: ((id: string) => void) | null
    choose: (id: string) => void
  },
) => {
  const { place, action, chosen, marked, members, toggle, choose } = props
  return html`<li class=${`flex items-start gap-10 px-(--inset) py-10 ${chosen ? 'chosen' : ''}`}>
    ${toggle !== null && html`<input type="checkbox" aria-label=${`Mark ${action.tool}`} checked=${marked} onChange=${() => toggle(action.id)} />`}
    <a class="grid flex-1 gap-2 min-w-0 text-ink" href=${hashAt(place, { action: action.id })} onClick=${(
      event: MouseEvent,
    ) => {
      if (event.ctrlKey || event.metaKey) return
      event.preventDefault()
      choose(action.id)
    }} aria-current=${chosen ? 'true' : undefined}>
      <span class="row gap-x-8 gap-y-2"><strong>${action.tool}</strong> ${riskChip(action.risk_level)}<time class="muted ml-auto tabular-nums" datetime=${action.created_at}>${age(action.created_at)}</time></span>
      <span class="truncate empty:hidden">${argumentsText(action.arguments)}</span>
      <span class="muted">${waiterOf(action)}${notesOf(action, members).join(' · ')}</span>
    </a>
  </li>`
}

/** What the session or the run is about that waits for a call. */
const waiterOf = ({ session_id, run_id }: Waiting) => {
  const waiter = session_id ?? run_id
  return waiter === null ? '' : `${titleOf(waiter)} · `
}

/** What is known of a call besides its arguments. */
const notesOf = (
  { expires_at, review: { assignee_id, snoozed_until, comment_count } }: Waiting,
  members: readonly Member[],
) => [
  ...(assignee_id === null ? [] : [nameIn(members, assignee_id)]),
  ...(snoozed_until === null ? [] : [`snoozed until ${time(snoozed_until)}`]),
  ...(comment_count === 0 ? [] : [`${comment_count} comment${comment_count === 1 ? '' : 's'}`]),
  `expires ${ahead(expires_at)}`,
]

/** The form to decide, who requests it, and what was said before. */
const Detail = (props: Props & { action: Waiting; members: readonly Member[] }) => {
  const { place, action, members, done } = props
  const { project } = place
  const { session_id, run_id, tenant_id } = action
  const waiter = session_id ?? run_id
  const whom = useRead(waiter ?? '', async () =>
    session_id !== null
      ? callApi(project, 'sessions.get', { params: { session_id } })
      : callApi(project, 'runs.get', { params: { run_id: run_id ?? '' } }),
  )
  const events = useRead(waiter === null ? '' : `${waiter} events`, () =>
    newestEvents(project, waiter ?? '', shownEvents),
  )
  const user = whom.data?.external_user_id
  const agent = whom.data?.agent_id ?? ''
  const known = useRead(agent, () => callApi(project, 'agents.get', { params: { agent_id: agent } }))
  const tool = known.data?.config.tools?.find((each) => 'name' in each && each.name === action.tool)
  const url = tool && 'url' in tool && tool.url
  return html`
    <section class="inbox-detail card overflow-hidden" aria-label=${`Call of ${action.tool}`}>
      <p class="underlined px-16 py-12 border-b border-line wrap-anywhere">
        ${waiter === null ? 'A caller of the API' : html`${session_id === null ? 'The run' : 'The session'} <${ActorLink} project=${project} id=${waiter} />`}
        ${agent !== '' && html` of agent <a href=${listHash({ project, agent })} title=${agent}>${known.data?.name ?? agent}</a>`}
        ${user && html` of user <strong>${user}</strong>`}
        ${tenant_id && html`, tenant <a href=${listHash({ project, tenant: tenant_id })} title=${tenant_id}>${nameOf(tenant_id)}</a>`} requests it.
        ${url && html`<br /><span class="muted">It is sent to</span> <code>${url}</code>`}
      </p>
      ${events.data !== null && html`<${Sums} events=${events.data} upTo=${null} />`}
      <${Approval} project=${project} actor=${action} done=${done} />
      <${ReviewPanel} project=${project} action=${action} members=${members} done=${done} />
      ${events.data !== null && html`<h2 class="px-16 pt-14 text-13 font-semibold">What led here</h2><${TalkPanel} project=${project} session=${session_id ?? ''} events=${events.data} upTo=${null} />`}
    </section>
  `
}
