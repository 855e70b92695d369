import { ActPanel } from './act-panel.ts'
import { ActorFacts, RelatedList } from './actor-details.ts'
import { type Actor, actorAt, stateOf } from './actor-facts.ts'
import { ActorFeed } from './actor-feed.ts'
import { SequencePanel, StepsPanel } from './actor-panels.ts'
import { type ActorSource, liveSource } from './actor-source.ts'
import { file } from './api.ts'
import { ChartPlay } from './chart-play.ts'
import { ChartStage } from './chart-stage.ts'
import { ContextPanel } from './context-panel.ts'
import { h } from './dom.ts'
import { machineName } from './format.ts'
import { html, render, useMemo } from './html.ts'
import { JobPanel } from './job-panel.ts'
import { Failure, LogPanel } from './log-panel.ts'
import { titleOf } from './names.ts'
import { StateChip } from './parts/cells.ts'
import { CopyId } from './parts/copy-button.ts'
import { Held } from './parts/held.ts'
import { isFree } from './parts/keys.ts'
import { listHash, routeHash } from './route.ts'
import { Scrubber } from './scrubber.ts'
import { ShareMenu } from './share-menu.ts'
import { activeAt, nameOf } from './steps-model.ts'
import { hasTalk, Sums, TalkPanel, turnAt } from './talk-panel.ts'
import { WaterfallPanel } from './waterfall-panel.ts'
import { WhyPanel } from './why-panel.ts'

/**
 * `operates`: the user may act on stuck work and read the audit log; `step`: number of the commit to show; `source`:
 * where the actor is read from, by default the server
 */
type ActorPlace = Readonly<{ project: string; id: string; operates: boolean; step?: number; source?: ActorSource }>

type Tab = keyof typeof tabTitles

const tabTitles = {
  talk: 'Conversation',
  steps: 'Steps',
  log: 'Log',
  time: 'Waterfall',
  messages: 'Messages',
  context: 'Context',
  pages: 'Pages',
}

/** The tabs of an actor. A saved bundle does not contain the pictures of a job's pages. */
const tabsOf = (actor: Actor, live: boolean) =>
  Object.keys(tabTitles).filter(
    (tab): tab is Tab =>
      (tab !== 'talk' || hasTalk(actor)) && (tab !== 'pages' || (live && actor.machine === 'browser_job')),
  )

/** The tab chosen last, for the next actor. */
let chosenTab: Tab | null = null

/** One actor: its chart with the active states, its pending work, its history and its log. */
export class ActorView {
  element = h('div', {
    class:
      'actor grid flex-1 wide:grid-rows-[auto_minmax(0,1fr)] wide:grid-cols-[minmax(0,62fr)_minmax(0,38fr)] max-wide:grid-cols-1 min-h-0',
  })
  #place
  #source
  #report
  #log
  /** set by `start` */
  #parts: { feed: ActorFeed; layout: Layout; stage: ChartStage; play: ChartPlay } | null = null
  /** Index of the selected commit; null: the newest. */
  #at: number | null = null
  /** What ends with the page. */
  #started: { stop(): void }[] = []
  #isShown = false
  #isStopped = false

  /** @param report called with an error, and with null when it is resolved */
  constructor(place: ActorPlace, report: (error: unknown) => void) {
    const { project, id, source = liveSource(project, id) } = place
    this.#place = place
    this.#source = source
    this.#report = report
    const session = source.live ? id : ''
    this.#log = new LogPanel({ project, session, read: source.events, report, grown: () => this.#render() })
  }

  /** Reads the actor, its newest commits and events, then follows. @throws {ApiError} */
  async start() {
    const source = this.#source
    const actor = await source.actor()
    const feed = new ActorFeed(
      { project: this.#place.project, actor, source },
      {
        stepped: (fresh) => this.#stepped(fresh),
        changed: () => this.#changed(),
        logged: () => this.#log.poke(),
        last: () => this.#log.last,
        report: this.#report,
      },
    )
    this.#started.push(feed)
    const layout = await file(`/charts/${encodeURIComponent(actor.machine)}.layout.json`)
    if (this.#isStopped) return
    const stage = new ChartStage(layout, () => this.#light())
    this.#started.push(stage)
    await Promise.all([feed.start(), this.#log.start(actor.last_sequence)])
    if (this.#isStopped) return
    const play = new ChartPlay(stage)
    this.#started.push(play)
    this.#parts = { feed, layout, stage, play }
    const wanted = feed.book.steps.findIndex(({ seq }) => seq === this.#place.step)
    this.#go(wanted < 0 ? null : wanted)
    addEventListener('keydown', this.#onKey)
    if (source.live) feed.follow()
  }

  shown() {
    this.#isShown = true
    this.#log.scrollToEnd()
    this.#render()
  }

  stop() {
    this.#isStopped = true
    removeEventListener('keydown', this.#onKey)
    for (const each of this.#started) each.stop()
    render(null, this.element)
  }

  #stepped(fresh: readonly Step[]) {
    if (this.#parts === null) return
    const { stage, play, feed } = this.#parts
    if (this.#at === null) {
      stage.chart.walk(feed.book.statesTo(feed.book.steps.length - 1))
      play.play(fresh.flatMap(({ to, event }) => (to === null ? [] : [{ active: activeAt(to), event }])))
    }
    this.#render()
  }

  #changed() {
    const { feed, play } = this.#parts ?? {}
    if (this.#at === null && feed?.book.steps.every(({ to }) => to === null)) play?.settle(feed.actor.active)
    this.#render()
  }

  /** Shows a commit. @param index null: the newest, following new ones */
  #go(index: number | null) {
    if (this.#parts === null) return
    this.#at = index
    const { project, id } = this.#place
    const step = index === null ? undefined : this.#parts.feed.book.steps[index]
    const place = routeHash({ view: 'actor', project, id, ...(step && { step: step.seq }) })
    if (this.#source.live && this.#isShown) history.replaceState(null, '', place)
    this.#light()
    this.#log.standAt(index === null ? null : this.#parts.feed.book.sequenceAt(index))
    this.#render()
    this.element.querySelector('.steps .chosen')?.scrollIntoView({ block: 'nearest' })
  }

  /** Lights the state as of the selected commit with the transition to it, and the way there. Commits are the newer source than the state. */
  #light() {
    if (this.#parts === null) return
    const { stage, play, feed } = this.#parts
    const { steps } = feed.book
    stage.chart.walk(feed.book.statesTo(this.#at ?? steps.length - 1))
    const index = this.#at ?? steps.findLastIndex(({ to }) => to !== null)
    const leaf = index < 0 ? null : feed.book.stateAt(index)
    if (leaf === null) return index < 0 && play.settle(feed.actor.active)
    const before = index > 0 ? feed.book.stateAt(index - 1) : null
    const { to = null, event = '' } = steps[index] ?? {}
    play.stand({ active: activeAt(leaf), event: to === null ? '' : event }, before === null ? null : activeAt(before))
  }

  /** ← and → move through the commits, unless the focus is in an input or in the chart. */
  #onKey = (event: KeyboardEvent) => {
    const { key, target } = event
    if ((key !== 'ArrowLeft' && key !== 'ArrowRight') || !isFree(event)) return
    // a slider and the chart have their own
    if (target instanceof Element && target.matches('input, .chart-box')) return
    event.preventDefault()
    const count = this.#parts?.feed.book.steps.length ?? 0
    const to = (this.#at ?? count - 1) + (key === 'ArrowLeft' ? -1 : 1)
    if (to >= 0) this.#go(to >= count ? null : to)
  }

  #render() {
    if (this.#parts === null || this.#isStopped) return
    const { feed, layout, stage } = this.#parts
    const { live } = this.#source
    const { actor } = feed
    const tabs = tabsOf(actor, live)
    const tab =
      chosenTab !== null && tabs.includes(chosenTab)
        ? chosenTab
        : actor.last_sequence === 0
          ? 'steps'
          : (tabs.find((each) => each === 'talk') ?? 'log')
    this.#log.element.hidden = tab !== 'log'
    const choose = (name: Tab) => {
      chosenTab = name
      this.#render()
    }
    const page = { ...this.#place, feed, layout, live, at: this.#at, log: this.#log, isShown: this.#isShown }
    const acts = { go: (index: number | null) => this.#go(index), done: () => feed.poll() }
    render(
      html`<${Page} ...${page} ...${acts} chart=${stage.element} tabs=${tabs} tab=${tab} choose=${choose} />`,
      this.element,
    )
  }
}

interface Shown extends Props {
  readonly live: boolean
  readonly feed: ActorFeed
  readonly log: LogPanel
  readonly chart: HTMLElement
  /** index of the selected commit; null: the newest */
  readonly at: number | null
  readonly isShown: boolean
  readonly go: (index: number | null) => void
  readonly tabs: readonly Tab[]
  readonly tab: Tab
  readonly choose: (tab: Tab) => void
}

const Page = (props: Shown) => {
  const { project, live, feed, layout, log, at, isShown } = props
  const { actor, book, status } = feed
  const step = at === null ? undefined : book.steps[at]
  const name = machineName(actor.machine)
  // events of a stream change neither
  const since = [actor, book.steps.length, at, isShown]
  const moment = useMemo(() => (at === null ? actor : actorAt(actor, book, at)), since)
  const left = useMemo(() => html`<${Left} ...${props} moment=${moment} />`, since)
  const acts = useMemo(() => live && html`<${Acts} ...${props} />`, since)
  return html`
    <div class="view-head col-span-full border-b border-line">
      <nav aria-label="Breadcrumb"><a href=${listHash({ project, machine: actor.machine })}>${name.charAt(0).toUpperCase()}${name.slice(1)}</a></nav>
      <h1 class="truncate" title=${actor.id}>${titleOf(actor.id)}</h1>
      <${CopyId} id=${actor.id} />
      <span class="state-now" role="status"><${StateChip} state=${stateOf(moment)} />${step && ` at commit ${step.seq}`}</span>
      ${live && html`<span role="status" data-status=${status} class="stream ml-auto text-soft before:inline-block before:size-7 before:mr-6 before:rounded-full before:bg-wait data-[status=live]:before:bg-calm">${status}</span>`}
      ${live ? html`<${ShareMenu} project=${project} actor=${actor} layout=${layout} steps=${book.steps} log=${() => log.events} />` : html`<span class="muted">A saved bundle (read-only).</span>`}
    </div>
    ${left}
    <section class="right min-w-0 min-h-0 wide:flex wide:flex-col max-wide:grid max-wide:border-t border-line" aria-label="History">
      <${History} ...${props} acts=${acts} />
    </section>
  `
}

/** Why the actor is in its state, its chart and its commits. */
const Left = ({ feed: { book }, layout, chart, at, go, isShown, moment }: Shown & { moment: Actor }) => {
  const shown = at === null ? book.steps : book.steps.slice(0, at + 1)
  const [step, next] = at === null ? [] : book.steps.slice(at, at + 2)
  return html`
    <section class="left min-w-0 min-h-0 wide:border-r border-line wide:overflow-auto" aria-label="State">
      <div class="flex flex-col wide:min-h-full">
        <${WhyPanel} actor=${moment} layout=${layout} steps=${shown} at=${step} next=${next} />
        <${Held} of=${chart} />
        <${Scrubber} steps=${book.steps} at=${at} go=${go} nameOf=${(each: Step) => nameOf(layout, each)} isShown=${isShown} />
      </div>
      <div class="px-16 pt-14 pb-20"><${ActorFacts} actor=${moment} steps=${shown} /></div>
    </section>
  `
}

/** What can be done, as of the selected commit. */
const Acts = ({ project, operates, feed: { actor, book }, log, at, done }: Shown) => {
  const upTo = at === null ? null : book.sequenceAt(at)
  const moment = {
    seq: at === null ? null : (book.steps[at]?.seq ?? null),
    sequence: upTo || null,
    turn: turnAt(log.events, upTo),
  }
  return html`<${ActPanel} project=${project} actor=${actor} steps=${book.steps} moment=${moment} operates=${operates} done=${done} />`
}

const History = (props: Shown & { acts: unknown }) => {
  const { project, id, live, feed, layout, log, at, go, tabs, tab, choose, acts } = props
  const { actor, book } = feed
  const upTo = at === null ? null : book.sequenceAt(at)
  const { steps } = book
  const panels = {
    talk: () => html`<${TalkPanel} project=${project} session=${live ? id : ''} events=${log.events} upTo=${upTo} />`,
    steps: () =>
      html`<${StepsPanel} project=${project} steps=${steps} layout=${layout} chosen=${at ?? -1} choose=${go} />`,
    time: () => html`<${WaterfallPanel} project=${project} steps=${steps} live=${live} />`,
    messages: () => html`<${SequencePanel} project=${project} id=${id} steps=${steps} />`,
    context: () => html`<${ContextPanel} ...${book.contextAt(at ?? steps.length - 1)} />`,
    pages: () => html`<${JobPanel} project=${project} id=${id} seq=${book.last} />`,
    log: () => null,
  }
  return html`
    ${hasTalk(actor) && html`<${Sums} events=${log.events} upTo=${upTo} />`}
    <${Failure} failure=${log.failure} />
    <div class="wide:max-h-[55%] wide:overflow-auto">${acts}</div>
    <${RelatedList} project=${project} actor=${actor} />
    <div class="flex flex-none max-phone:flex-wrap gap-2 px-8 pt-6 overflow-x-auto overflow-y-hidden border-b border-line" role="tablist" aria-label="History">
      ${tabs.map((name) => html`<button key=${name} type="button" role="tab" class="px-8 pt-4 pb-6 border-0 border-b-2 border-transparent rounded-none bg-transparent text-soft font-normal aria-selected:border-accent aria-selected:text-ink aria-selected:font-semibold" aria-selected=${String(name === tab)} aria-controls="history" onClick=${() => choose(name)}>${tabTitles[name]}</button>`)}
    </div>
    <div class="flex-1 min-h-0 overflow-auto bg-panel focus-visible:-outline-offset-2" role="tabpanel" id="history" tabindex="0" hidden=${tab === 'log'}>${panels[tab]()}</div>
    <${Held} of=${log.element} />
  `
}
