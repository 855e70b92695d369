import { eventsAfter } from '../actor-source.ts'
import type { Actor, ListedActor as Candidate } from '../answers.d.ts'
import { bytesOf, callApi } from '../api.ts'
import { duration } from '../format.ts'
import { html } from '../html.ts'
import { ActorLink } from '../linked-ids.ts'
import { livePage } from '../live-page.ts'
import { nothing, StateChip, When } from '../parts/cells.ts'
import { Choices } from '../parts/choices.ts'
import { Empty } from '../parts/empty.ts'
import { lineDiff } from '../parts/line-diff.ts'
import { TablePanel } from '../parts/panel.ts'
import { type QueryField, QueryForm } from '../parts/query-form.ts'
import { Table } from '../parts/table.ts'
import { imagesIn } from '../parts/turn-input.ts'
import { hashAt, listHash } from '../route.ts'
import { hasTalk } from '../talk-panel.ts'
import { aligned, courseOf, differences, type Fact, factsOf, markOf, type Part, turnsIn } from './compare-model.ts'

interface Facts {
  readonly agent_id: string | null
  readonly replay_of?: string | null
  readonly forked_from?: { readonly session_id: string; readonly turn_number: number } | null
}

type Side = Readonly<{ actor: Actor; facts: Facts; events: readonly ActorEvent[] }>

type Sides = Readonly<{ a: Side | null; b: Side | null; candidates: readonly Candidate[]; contents: Contents }>

/** marks of the bytes of images, by their ids */
type Contents = ReadonlyMap<string, string>

/** Number of events of each side that are read. */
const maxEvents = 4000
const maxCandidates = 30

/** Two runs or turns side by side. Both are in the URL; with only one of them, the page offers others. */
export const comparePage = livePage({
  read: async (place: Place, before: Sides | null): Promise<Sides> => {
    const [a, b] = await Promise.all([sideOf(place, 'a', before), sideOf(place, 'b', before)])
    if (a === null || b === null)
      return { a, b, candidates: a === null ? [] : await candidatesFor(place, a), contents: new Map() }
    return { a, b, candidates: [], contents: await contentsOf(place.project, [a, b], before?.contents ?? new Map()) }
  },
  show: ({ place, data }) => html`<${Compare} place=${place} ...${data} />`,
})

/** Reads one side; its log only from the last event that was read. */
const sideOf = async ({ project, query }: Place, name: 'a' | 'b', before: Sides | null): Promise<Side | null> => {
  const id = query[name] ?? ''
  if (id === '') return null
  const params = { actor_id: id }
  const actor = await callApi(project, 'project_actors.get', { params })
  const known = before?.[name]?.events ?? []
  const after = known.at(-1)?.sequence ?? 0
  const events = [...known, ...(await eventsAfter(project, id, after, maxEvents - known.length))]
  const facts =
    actor.machine === 'run'
      ? await callApi(project, 'runs.get', { params: { run_id: id } })
      : actor.machine === 'session'
        ? await callApi(project, 'sessions.get', { params: { session_id: id } })
        : { agent_id: null }
  return { actor, facts, events }
}

/** Reads the images of which there are others of the same size: they may be the same. */
const contentsOf = async (project: string, sides: readonly Side[], known: Contents): Promise<Contents> => {
  const images = sides.flatMap(({ actor, events }) =>
    events.flatMap(({ payload }) => imagesIn(payload.input).map((image) => ({ ...image, session_id: actor.id }))),
  )
  const alike = [...Map.groupBy(images, ({ bytes }) => bytes).values()].filter(
    (each) => new Set(each.map(({ image_id }) => image_id)).size > 1,
  )
  const contents = new Map(known)
  for (const { image_id = '', session_id } of alike.flat())
    if (image_id !== '' && !contents.has(image_id))
      await bytesOf(project, 'sessions.image', { session_id, image_id }).then(
        async (blob) => contents.set(image_id, markOf(new Uint8Array(await blob.arrayBuffer()))),
        // it was deleted
        () => contents.set(image_id, ''),
      )
  return contents
}

/** Others of the same agent, newest first. */
const candidatesFor = async (
  { project }: Place,
  { actor: { id, machine }, facts: { agent_id } }: Side,
): Promise<readonly Candidate[]> => {
  const query = { machine, agent_id: agent_id ?? '', limit: maxCandidates }
  const { data } = await callApi(project, 'observation.actors', { query })
  return data.filter((each) => each.id !== id)
}

const Compare = ({ place, a, b, candidates, contents }: { place: Place } & Sides) => html`
  <div class="view-head"><h1>Compare</h1>${a && b && html`<a class="button quiet" href=${swapped(place)}>Swap</a>`}</div>
  <section class="panel" aria-label="What is compared">
    <${QueryForm} place=${place} label="Choose" button="Compare" fields=${[...fieldsOf('a', 'A', a), ...fieldsOf('b', 'B', b)]} />
  </section>
  ${
    a === null
      ? html`<${Empty} drawn="runs" title="Two runs or turns side by side."><p>Mark two in the list of <a href=${listHash({ project: place.project, machine: 'run' })}>runs</a> or <a href=${listHash({ project: place.project })}>sessions</a>, or paste their ids above.</p><//>`
      : b === null
        ? html`<${Candidates} place=${place} of=${a} candidates=${candidates} />`
        : html`<${Both} place=${place} a=${a} b=${b} contents=${contents} />`
  }
`

const swapped = (place: Place) => {
  const { a = '', b = '', turn_a = '', turn_b = '' } = place.query
  return hashAt(place, { a: b, b: a, turn_a: turn_b, turn_b: turn_a })
}

const fieldsOf = (name: 'a' | 'b', label: string, side: Side | null): readonly QueryField[] => {
  const turns = side?.actor.machine === 'session' ? turnsIn(side.events) : []
  const choices = turns.map(({ turn, text }) => [String(turn), `${turn}: ${text.slice(0, 60)}`] as const)
  return [
    { name, label, wide: true },
    ...(choices.length === 0
      ? []
      : [
          {
            name: `turn_${name}`,
            label: `Turn of ${label}`,
            choices: [['', 'all'], ...choices] as const,
          },
        ]),
  ]
}

/** What one can be compared with: its origin first. */
const Candidates = (props: Props & { of: Side; candidates: readonly Candidate[] }) => {
  const { place, of, candidates } = props
  const { actor, facts } = of
  const origin = facts.replay_of ?? facts.forked_from?.session_id ?? ''
  const rows = candidates.filter(({ id }) => id !== origin)
  const columns: Columns<Candidate> = {
    [`Other ${actor.machine}s of its agent`]: ({ id, label }) =>
      html`<a href=${hashAt(place, { b: id })}>${label ?? id}</a>`,
    State: ({ state }) => html`<${StateChip} state=${state} />`,
    Id: ({ id, label }) => (label === null ? nothing : html`<code>${id}</code>`),
    Created: ({ created_at }) => html`<${When} at=${created_at} />`,
  }
  return html`
    <section class="panel" aria-label="Compare it with">
      <h2>Compare it with</h2>
      ${origin !== '' && html`<p class="panel-part"><a href=${hashAt(place, { a: origin, b: actor.id })}>The ${actor.machine} that it repeats</a> <code>${origin}</code></p>`}
      ${actor.machine === 'session' && html`<p class="panel-part"><a href=${hashAt(place, { b: actor.id })}>Another turn of this session</a></p>`}
      ${rows.length > 0 ? html`<${Table} label="Others" columns=${columns} rows=${rows} />` : html`<p class="panel-part muted">Its agent has no other ${actor.machine}.</p>`}
    </section>
  `
}

const Both = ({ place, a, b, contents }: { place: Place; a: Side; b: Side; contents: Contents }) => {
  if (![a, b].every(({ actor }) => hasTalk(actor)))
    return html`<p class="empty">Only runs and sessions can be compared.</p>`
  const [courseA, courseB] = [
    courseOf(chosen(a, place.query.turn_a), contents),
    courseOf(chosen(b, place.query.turn_b), contents),
  ]
  const rows = aligned(courseA.parts, courseB.parts)
  const changed = rows.filter(([one, other]) => differences(one, other).length > 0)
  const only = place.query.only === 'changes'
  const isCut = [a, b].some(({ events }) => events.length >= maxEvents)
  return html`
    <div class="grid grid-cols-2 max-phone:grid-cols-1 gap-x-12 gap-y-4 mx-(--gutter) mb-(--gutter)">
      <${SideHead} place=${place} name="A" side=${a} turn=${place.query.turn_a} />
      <${SideHead} place=${place} name="B" side=${b} turn=${place.query.turn_b} />
    </div>
    <${TablePanel} label="Figures" columns=${factColumns} rows=${factsOf(courseA, courseB)} />
    <section class="panel" aria-label="Final answer">
      <h2>Final answer ${courseA.answer === courseB.answer && html`<span class="muted">${courseA.answer === '' ? 'none yet' : 'the same'}</span>`}</h2>
      ${`${courseA.answer}${courseB.answer}` !== '' && html`<${Texts} label="Final answer" a=${courseA.answer} b=${courseB.answer} />`}
    </section>
    <section class="panel" aria-label="Steps">
      <h2>Steps <span class="muted">${changed.length === 0 ? 'no differences' : `${changed.length} of ${rows.length} differ`}</span>
        <${Choices} label="Which steps" values=${{ '': 'All', changes: 'Differences' }} now=${only ? 'changes' : ''} to=${(value: string) => hashAt(place, { only: value })} />
      </h2>
      <ol class="pairs">${(only ? changed : rows).map(([one, other], at) => html`<${Pair} key=${at} a=${one} b=${other} />`)}</ol>
      ${isCut && html`<p class="panel-part muted">Of each log, the first ${maxEvents} events are compared.</p>`}
    </section>
  `
}

/** The events of the chosen turn, or all. */
const chosen = ({ events }: Side, turn: string | undefined) =>
  turn ? events.filter(({ turn_number }) => turn_number === Number(turn)) : events

const SideHead = (props: Props & { side: Side; turn: string | undefined }) => {
  const { place, name, side, turn } = props
  const { actor } = side
  return html`
    <section class="card row items-baseline gap-x-10 gap-y-2 wrap-anywhere px-(--inset) py-10" aria-label=${name}>
      <strong class="w-[1.7em] rounded-full bg-accent-soft text-accent text-center">${name}</strong>
      <${ActorLink} project=${place.project} id=${actor.id} />
      ${turn && html`<span>turn ${turn}</span>`}
      <${StateChip} state=${actor.active.at(-1) ?? ''} />
      <span class="muted"><${When} at=${actor.created_at} /></span>
    </section>
  `
}

const factColumns: Columns<Fact> = {
  Figure: ({ name }) => name,
  A: ({ a }) => a || nothing,
  B: ({ b }) => b || nothing,
  Change: ({ change, tone }) =>
    change === ''
      ? html`<span class="muted">same</span>`
      : html`<span class="change" data-tone=${tone}>${change}</span>`,
}

/** One step of both, open where they differ. */
const Pair = ({ a, b }: { a: Part | null; b: Part | null }) => {
  const found = differences(a, b)
  const parts = [a, b].filter((part) => part !== null)
  const names = [...new Set(parts.map(({ name }) => name))]
  const kind = parts[0]?.kind
  const output = kind === 'model' || kind === 'input' ? 'Text' : 'Output'
  const labels = { given: 'Arguments', output, images: 'Images', decision: 'Decision' }
  return html`
    <li>
      <details open=${found.length > 0}>
        <summary class="row items-baseline gap-x-10 gap-y-2 wrap-anywhere px-(--inset) py-8 list-none">
          <span class="w-[3.6em] text-soft text-12">${kind}</span> <strong>${names.join(' → ')}</strong>
          ${found.length === 0 ? html`<span class="muted">same</span>` : found.map((each) => html` <span class="chip" data-tone="wait">${each}</span>`)}
          ${parts.some(({ failed }) => failed) && html` <span class="chip" data-tone="bad">failed</span>`}
          <span class="ml-auto text-soft text-12 tabular-nums">${parts.some(({ ms }) => ms !== null) && [a, b].map((part) => (part?.ms == null ? nothing : duration(part.ms))).join(' · ')}</span>
        </summary>
        ${(['given', 'output', 'images', 'decision'] as const).map((field) => (a?.[field] || b?.[field]) && html`<${Texts} key=${field} label=${labels[field]} a=${a?.[field] ?? null} b=${b?.[field] ?? null} />`)}
      </details>
    </li>
  `
}

/** Two texts, each with the lines marked that the other one does not have; null: there is none. */
const Texts = ({ label, a, b }: { label: string; a: string | null; b: string | null }) => {
  const lines = lineDiff(a ?? '', b ?? '')
  return html`<div class="texts grid grid-cols-2 max-phone:grid-cols-1 gap-x-12 gap-y-4 px-(--inset) pb-12" role="group" aria-label=${label}>
    <span class="col-span-full text-soft text-12">${label}</span>
    ${[a, b].map((text, at) => {
      const [name, sign, Mark] = at === 0 ? ['A', '-', 'del'] : ['B', '+', 'ins']
      if (!text) return html`<p class="muted" data-side=${name}>${text === null ? `Not in ${name}` : 'None'}</p>`
      const shown = lines.filter(([each]) => each === ' ' || each === sign)
      return html`<pre class="diff" data-side=${name} tabindex="0" aria-label="${label} of ${name}">${shown.map(([each, line]) => (each === ' ' ? html`<span>${line}</span>` : html`<${Mark}>${line}<//>`))}</pre>`
    })}
  </div>`
}
