import { ActPanel } from './act-panel.js'
import { ActorFacts, RelatedList } from './actor-details.js'
import { actorAt, stateOf } from './actor-facts.js'
import { SequencePanel, StepsPanel } from './actor-panels.js'
import { liveSource } from './actor-source.js'
import { tabsOf } from './actor-tabs.js'
import { ApiError, file } from './api.js'
import { ChartPlay } from './chart-play.js'
import { ChartStage } from './chart-stage.js'
import { ContextPanel } from './context-panel.js'
import { h } from './dom.js'
import { machineName } from './format.js'
import { dom, html, render } from './html.js'
import { JobPanel } from './job-panel.js'
import { LogPanel } from './log-panel.js'
import { titleOf, withNames } from './names.js'
import { StateChip } from './parts/cells.js'
import { copyButton } from './parts/copy-button.js'
import { listHash, routeHash } from './route.js'
import { Scrubber } from './scrubber.js'
import { shareMenu } from './share-menu.js'
import { activeAt, nameOf, StepBook } from './steps-model.js'
import { hasTalk, Sums, TalkPanel, turnAt } from './talk-panel.js'
import { WaterfallPanel } from './waterfall-panel.js'
import { WhyPanel } from './why-panel.js'

/**
 * @typedef {import('./actor-facts.js').Actor} Actor
 * @typedef {import('./actor-tabs.js').Tab} Tab
 */

/** Number of commits per read, and the maximum number that is shown of a long history. */
const stepPage = 200
const maxSteps = 2000
/** Minimum and maximum time between two reads of the state, in ms: some transitions write no event. */
const pollMs = 200
const maxPollMs = 2000

/** The tab chosen last, for the next actor. @type {Tab | null} */
let chosenTab = null

/** One actor: its chart with the active states, its pending work, its history and its log. */
export class ActorView {
  element = h('div', { class: 'actor' })
  #project
  #id
  #operates
  #source
  #report
  #title = h('h1')
  #state = h('span', { class: 'state-now', role: 'status' })
  #stream = h('span', { class: 'stream', role: 'status' })
  #act = h('div', { class: 'acting' })
  #why = h('div', { class: 'why-box' })
  #waiting = h('div', { class: 'waiting' })
  #facts = h('div', { class: 'details' })
  #sums = h('div', { class: 'sums' })
  #tabBar = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'History' })
  #panel = h('div', { class: 'panel', role: 'tabpanel', id: 'history', tabindex: 0 })
  /** @type {Tab} */
  #tab = 'log'
  #book = new StepBook()
  /** @type {Actor | null} */
  #actor = null
  /** @type {Layout | null} */
  #layout = null
  /** @type {ChartStage | null} */
  #stage = null
  /** @type {ChartPlay | null} */
  #play = null
  #scrubber
  #log
  #stopped = false
  #polling = false
  #pollAgain = false
  #timer = 0
  #unfollow = () => {}
  /** @type {number | undefined} */
  #wanted

  /**
   * @param {{ project: string, id: string, operates: boolean, step?: number, source?: import('./actor-source.js').ActorSource }} place
   *   `operates`: the user may act on stuck work and read the audit log; `step`: number of the commit to show;
   *   `source`: where the actor is read from, by default the server
   * @param {(error: unknown) => void} report called with an error, and with null when it is resolved
   */
  constructor({ project, id, operates, step, source = liveSource(project, id) }, report) {
    this.#source = source
    this.#operates = operates
    this.#project = project
    this.#id = id
    this.#report = report
    this.#wanted = step
    this.#log = new LogPanel({
      project,
      session: source.live ? id : '',
      read: source.events,
      report,
      grown: () => this.#renderTalk(),
    })
    this.#scrubber = new Scrubber(
      (index) => this.#travelled(index),
      (step) => (this.#layout === null ? step.event : nameOf(this.#layout, step)),
    )
  }

  /** Reads the actor, its newest commits and events, then follows. @throws {ApiError} */
  async start() {
    const actor = await this.#source.actor()
    const layout = await file(`/charts/${encodeURIComponent(actor.machine)}.layout.json`)
    this.#layout = layout
    this.#stage = new ChartStage(layout, () => this.#redrawn())
    this.#play = new ChartPlay(this.#stage)
    this.#actor = actor
    this.#tab = this.#firstTab(actor)
    this.#fill(actor, this.#stage)
    await Promise.all([
      this.#name(actor),
      this.#readSteps(Math.max(0, actor.seq - maxSteps)),
      this.#log.start(actor.last_sequence),
    ])
    this.#show(actor)
    this.#showNewest()
    this.#showTab(this.#tab)
    const at = this.#book.steps.findIndex(({ seq }) => seq === this.#wanted)
    if (at >= 0) this.#scrubber.go(at)
    if (this.#stopped) return
    addEventListener('keydown', this.#onKey)
    if (!this.#source.live) return
    this.#poll()
    this.#unfollow = this.#source.follow({
      last: () => this.#log.last,
      onEvent: () => {
        this.#log.poke()
        this.#poll()
      },
      onStatus: (status) => {
        this.#stream.textContent = status
        this.#stream.dataset.status = status
      },
      mayRetry: () => this.#isThere(),
    })
  }

  shown() {
    this.#log.scrollToEnd()
    this.#scrubber.center()
  }

  stop() {
    this.#stopped = true
    clearTimeout(this.#timer)
    removeEventListener('keydown', this.#onKey)
    this.#play?.stop()
    this.#stage?.stop()
    this.#unfollow()
  }

  /** @param {Actor} actor @returns {Tab} */
  #firstTab({ last_sequence }) {
    const known = tabsOf(this.#actor, this.#source.live).map(([name]) => name)
    if (chosenTab !== null && known.includes(chosenTab)) return chosenTab
    return last_sequence === 0 ? 'steps' : known.includes('talk') ? 'talk' : 'log'
  }

  /** @param {Actor} actor @param {ChartStage} stage */
  #fill(actor, stage) {
    const list = listHash({ project: this.#project, machine: actor.machine })
    const name = machineName(actor.machine)
    const { live } = this.#source
    const now = () => ({
      ...{ actor: this.#actor ?? actor, layout: stage.layout, steps: this.#book.steps, log: this.#log.events },
    })
    this.element.replaceChildren(
      ...dom`
        <div class="view-head">
          <nav aria-label="Breadcrumb"><a href=${list}>${name.charAt(0).toUpperCase()}${name.slice(1)}</a></nav>
          ${this.#title}${copyButton(actor.id)}${this.#state}${live && this.#stream}
          ${live ? shareMenu(this.#project, now) : dom`<span class="muted">A saved bundle (read-only).</span>`}
        </div>
        <section class="left" aria-label="State">
          <div class="life">${this.#why}${stage.element}${this.#scrubber.element}</div>${this.#facts}
        </section>
        <section class="right" aria-label="History">${[this.#sums, this.#log.error, this.#act, this.#waiting, this.#tabBar, this.#panel, this.#log.element]}</section>`,
    )
  }

  /** Names the actor and its relatives. @param {Actor} actor */
  async #name(actor) {
    if (this.#source.live) await withNames(this.#project, [actor.id, actor.related])
    this.#title.textContent = titleOf(actor.id)
    this.#title.title = actor.id
  }

  /** @param {Actor} actor */
  #show(actor) {
    this.#actor = actor
    render(html`<${RelatedList} project=${this.#project} actor=${actor} />`, this.#waiting)
    if (!this.#scrubber.travels && this.#book.steps.every(({ to }) => to === null)) this.#play?.settle(actor.active)
    this.#showMoment()
  }

  /** The header, the reasons and the facts, as of the selected commit. */
  #showMoment() {
    if (this.#actor === null) return
    const { steps } = this.#book
    const at = this.#scrubber.travels ? steps[this.#scrubber.index] : undefined
    this.#renderActs(this.#actor, at?.seq ?? null)
    const moment = at === undefined ? this.#actor : actorAt(this.#actor, this.#book, this.#scrubber.index)
    const when = at === undefined ? '' : ` at commit ${at.seq}`
    render(html`<${StateChip} state=${stateOf(moment)} />${when}`, this.#state)
    const shown = at === undefined ? steps : steps.slice(0, this.#scrubber.index + 1)
    const next = at === undefined ? undefined : steps[this.#scrubber.index + 1]
    render(html`<${ActorFacts} actor=${moment} steps=${shown} />`, this.#facts)
    const why = { actor: moment, layout: this.#layout, steps: shown, at, next }
    render(html`<${WhyPanel} ...${why} />`, this.#why)
  }

  /** @param {Actor} actor @param {number | null} seq number of the selected commit */
  #renderActs(actor, seq) {
    if (!this.#source.live) return
    const upTo = seq === null ? null : this.#book.sequenceAt(this.#scrubber.index)
    const moment = { seq, sequence: upTo || null, turn: turnAt(this.#log.events, upTo) }
    const parts = { project: this.#project, actor, steps: this.#book.steps, moment, operates: this.#operates }
    render(html`<${ActPanel} ...${parts} done=${() => this.#poll()} />`, this.#act)
  }

  /** Another drawing of the chart is shown: marks it as the one before. */
  #redrawn() {
    if (this.#scrubber.travels) this.#stand(this.#scrubber.index)
    else this.#showNewest()
    this.#showWay()
  }

  /** The newest state, with the transition to it. Commits are the newer source: the actor may have moved on. */
  #showNewest() {
    const last = this.#book.steps.findLastIndex(({ to }) => to !== null)
    if (last >= 0) this.#stand(last)
    else this.#play?.settle(this.#actor?.active ?? [])
  }

  /** @param {number} index */
  #stand(index) {
    const [leaf, before] = [this.#book.stateAt(index), index > 0 ? this.#book.stateAt(index - 1) : null]
    const { to = null, event: caused = '' } = this.#book.steps[index] ?? {}
    if (leaf === null) return
    const event = to === null ? '' : caused
    this.#play?.stand({ active: activeAt(leaf), event }, before === null ? null : activeAt(before))
  }

  /** @param {Tab} tab */
  #showTab(tab) {
    this.#tab = tab
    const choose = (/** @type {Tab} */ name) => {
      chosenTab = name
      this.#showTab(name)
    }
    const tabs = tabsOf(this.#actor, this.#source.live).map(
      ([name, title]) =>
        html`<button key=${name} type="button" role="tab" aria-selected=${String(name === tab)} aria-controls="history" onClick=${() => choose(name)}>${title}</button>`,
    )
    render(tabs, this.#tabBar)
    this.#log.element.hidden = tab !== 'log'
    this.#panel.hidden = tab === 'log'
    this.#renderPanel()
  }

  #renderPanel() {
    const parts = { project: this.#project, id: this.#id, steps: this.#book.steps, layout: this.#layout }
    const chosen = this.#scrubber.travels ? this.#scrubber.index : -1
    const upTo = this.#scrubber.travels ? this.#book.sequenceAt(this.#scrubber.index) : null
    const panels = {
      talk: html`<${TalkPanel} project=${this.#project} session=${this.#source.live ? this.#id : ''} events=${this.#log.events} upTo=${upTo} />`,
      steps: html`<${StepsPanel} ...${parts} chosen=${chosen} choose=${(/** @type {number} */ index) => this.#scrubber.go(index)} />`,
      time: html`<${WaterfallPanel} ...${parts} live=${this.#source.live} />`,
      messages: html`<${SequencePanel} ...${parts} />`,
      context: html`<${ContextPanel} ...${this.#book.contextAt(this.#scrubber.index)} />`,
      pages: html`<${JobPanel} project=${this.#project} id=${this.#id} seq=${this.#book.last} />`,
      log: null,
    }
    render(panels[this.#tab], this.#panel)
    if (this.#actor !== null && hasTalk(this.#actor))
      render(html`<${Sums} events=${this.#log.events} upTo=${upTo} />`, this.#sums)
  }

  #renderTalk() {
    if (this.#actor !== null && hasTalk(this.#actor)) this.#renderPanel()
  }

  /** Called when the user has moved to a commit; null: to the newest. @param {number | null} index */
  #travelled(index) {
    const { steps } = this.#book
    const step = index === null ? undefined : steps[index]
    const place = routeHash({ view: 'actor', project: this.#project, id: this.#id, ...(step && { step: step.seq }) })
    if (this.#source.live) history.replaceState(null, '', place)
    this.#showWay()
    if (index === null) this.#showNewest()
    else this.#stand(index)
    this.#showMoment()
    this.#log.standAt(index === null ? null : this.#book.sequenceAt(index))
    this.#renderPanel()
    this.#panel.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' })
  }

  /** Marks the edges taken up to the selected commit, as far as the loaded commits show. */
  #showWay() {
    const upTo = this.#scrubber.travels ? this.#scrubber.index : this.#book.steps.length - 1
    this.#stage?.chart.walk(this.#book.statesTo(upTo))
  }

  /** ← and → move through the commits, unless the focus is in an input or in the chart. @param {KeyboardEvent} event */
  #onKey = (event) => {
    const { key, target, metaKey, ctrlKey, altKey } = event
    const ours = !(target instanceof Element && target.matches('input, textarea, select, .chart-box'))
    if (!ours || metaKey || ctrlKey || altKey || document.querySelector('dialog[open]') !== null) return
    if (key === 'ArrowLeft') this.#scrubber.move(-1)
    else if (key === 'ArrowRight') this.#scrubber.move(1)
    else return
    event.preventDefault()
  }

  /** Reads the commits after this one, to the newest. @param {number} from */
  async #readSteps(from) {
    for (let after = from, more = true; more && !this.#stopped; ) {
      const { data, last_seq } = await this.#source.steps(after, stepPage)
      const fresh = this.#book.add(data)
      after = data.at(-1)?.seq ?? last_seq
      more = data.length > 0 && after < last_seq
      if (fresh.length === 0) continue
      this.#scrubber.grow(this.#book.steps)
      this.#showWay()
      const moves = fresh.flatMap(({ to, event }) => (to === null ? [] : [{ active: activeAt(to), event }]))
      if (!this.#scrubber.travels && this.#polling) this.#play?.play(moves)
      this.#renderPanel()
    }
  }

  /** Reads the state now or after the current read, and again after a while. */
  #poll() {
    if (this.#polling) this.#pollAgain = true
    else void this.#pollNow()
  }

  async #pollNow() {
    clearTimeout(this.#timer)
    this.#polling = true
    this.#pollAgain = false
    await this.#isThere()
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    this.#polling = false
    if (this.#stopped) return
    if (this.#pollAgain) this.#poll()
    else this.#timer = setTimeout(() => whenVisible(() => this.#poll()), maxPollMs)
  }

  /** Reads and shows the current state. @returns {Promise<boolean>} whether reading it again makes sense */
  async #isThere() {
    try {
      const actor = await this.#source.actor()
      if (actor.seq > this.#book.last) await this.#readSteps(this.#book.last)
      // it has moved on since it was read
      if (this.#book.last > actor.seq) this.#pollAgain = true
      if (actor.last_sequence > this.#log.last) this.#log.poke()
      if (this.#tab === 'steps' && chosenTab === null && actor.last_sequence > 0) this.#showTab(this.#firstTab(actor))
      await this.#name(actor)
      if (!this.#stopped) this.#show(actor)
      this.#report(null)
      return !this.#stopped
    } catch (error) {
      if (this.#stopped) return false
      this.#report(error)
      const gone = error instanceof ApiError && (error.status === 404 || error.status === 401)
      if (gone) this.stop()
      return !gone
    }
  }
}

/** @param {() => void} act */
const whenVisible = (act) => {
  if (document.visibilityState === 'visible') act()
  else document.addEventListener('visibilitychange', act, { once: true })
}
