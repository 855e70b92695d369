import type { StuckWork as Work } from './answers.d.ts'
import { callApi } from './api.ts'
import { Approval, OthersDecide } from './approval-form.ts'
import { CommandForm, type Status } from './command-form.ts'
import { commandsOf, type Moment } from './commands.ts'
import { html, useEffect, useRef, useState } from './html.ts'
import { InputPanel } from './input-panel.ts'
import { LivePanel } from './live/live-panel.ts'
import { nameOf, withNames } from './names.ts'
import { sessionNow } from './session.ts'

const maxWork = 100

/** Delays in ms after a change at which decisions are read: an audit log entry follows its commit without changing the actor. */
const pollDelaysMs = [0, 1_000, 5_000]

/**
 * The actions that a person can take on an actor, each with a reason for the audit log, and the decisions made so far.
 */
export const ActPanel = ({ project, actor, steps, moment, operates, done }: Props & { moment: Moment }) => {
  const [open, setOpen] = useState('')
  const [outcome, say] = useState<Status | null>(null)
  const [work, setWork] = useState<readonly Work[]>([])
  const mayBeStuck = actor.parked !== null || actor.in_flight.length > 0 || actor.reminders.length > 0
  useEffect(() => {
    if (!operates || !mayBeStuck) return setWork([])
    void callApi(project, 'stuck.list', { query: { limit: maxWork } }).then(
      ({ data }) => setWork(data.filter(({ actor_id }) => actor_id === actor.id)),
      () => setWork([]),
    )
  }, [actor.id, actor.seq, mayBeStuck])
  const isPending = actor.machine === 'action' && actor.active.at(-1) === 'pending_approval'
  const isAwaitingInput = actor.machine === 'action' && actor.active.at(-1) === 'awaiting_input'
  const isHandedOver = actor.machine === 'browser_job' && actor.active.at(-1) === 'open.waiting'
  const commands = commandsOf(actor, steps, work, moment)
  const bar = useRef<HTMLElement | null>(null)
  /** Closes the form and returns the focus to the button that opened it. */
  const close = () => {
    const button = bar.current?.querySelector('[aria-expanded=true]')
    if (button instanceof HTMLElement) button.focus()
    setOpen('')
  }
  const chosen = commands.find(({ name }) => name === open)
  return html`
    ${isPending && html`<${Approval} project=${project} actor=${actor} done=${done} />`}
    ${isAwaitingInput && (sessionNow().decides ? html`<${InputPanel} project=${project} actor=${actor} done=${done} />` : html`<section class="act" aria-label="Waits for input"><${OthersDecide} /></section>`)}
    ${isHandedOver && html`<${LivePanel} project=${project} id=${actor.id} done=${done} />`}
    ${
      commands.length > 0 &&
      html`<div class="act row" role="group" aria-label="Act" ref=${bar}>
        ${commands.map(({ name }) => html`<button type="button" class="quiet" aria-expanded=${name === open} onClick=${() => setOpen(name === open ? '' : name)}>${name}</button>`)}
        <span role="status" class="wrap-anywhere">${outcome !== null && html`${outcome.text} ${outcome.href !== '' && html`<a href=${outcome.href}>${outcome.id}</a>`}`}</span>
      </div>`
    }
    ${
      chosen &&
      html`<${CommandForm} key=${chosen.says} project=${project} command=${chosen} close=${close} done=${(
        result: Status,
      ) => {
        close()
        if (chosen.leads) location.hash = result.href
        say(result)
        done()
      }} />`
    }
    <${Decisions} project=${project} actor=${actor} operates=${operates} />
  `
}

type Line = Answers['audit_log.list']['data'][number]

/** Decisions on the actor with their authors and reasons, from the audit log, for members who may read it. */
const Decisions = ({ project, actor, operates }: Props) => {
  const [lines, setLines] = useState<readonly Line[]>([])
  useEffect(() => {
    let isShown = operates
    const poll = () =>
      callApi(project, 'audit_log.list', { query: { limit: 10, resource_id: actor.id } }).then(
        async ({ data }) => isShown && setLines(await withNames(project, data)),
        () => isShown && setLines([]),
      )
    const polls = operates ? pollDelaysMs.map((ms) => setTimeout(poll, ms)) : []
    return () => {
      isShown = false
      polls.forEach(clearTimeout)
    }
  }, [actor.id, actor.seq])
  if (lines.length === 0) return null
  return html`<section class="mx-16 mt-12" aria-label="Decisions"><ul>${lines.map(
    ({ id, action, actor: by, reason, created_at }) =>
      html`<li key=${id} class="py-3 wrap-anywhere"><strong>${wordsOf(action)}</strong> by <span title=${by.id}>${by.id === null ? by.kind : nameOf(by.id)}</span>${reason !== null && html`: <q>${reason}</q>`} <time class="muted" datetime=${created_at}>${created_at.slice(0, 16).replace('T', ' ')}</time></li>`,
  )}</ul></section>`
}

/** `stuck_work.retried` in words. */
const wordsOf = (action: string) => action.replaceAll('_', ' ').replace('.', ' ')
