import type { Actor } from './actor-facts.ts'
import type { ActorSource } from './actor-source.ts'
import { ApiError } from './api.ts'
import { withNames } from './names.ts'
import { StepBook } from './steps-model.ts'

interface FeedListener {
  /** called with commits that were not known yet */
  readonly stepped: (fresh: readonly Step[]) => void
  /** called when the state or the status of the stream was read */
  readonly changed: () => void
  /** called when the stream signals an event */
  readonly logged: () => void
  /** sequence of the newest event that is known */
  readonly last: () => number
  /** called with an error, and with null when it is resolved */
  readonly report: (error: unknown) => void
}

/** Number of commits per read, and the maximum number that is read of a long history. */
const stepPage = 200
const maxSteps = 2000
/** Minimum and maximum time between two reads of the state, in ms: some transitions write no event. */
const pollMs = 200
const maxPollMs = 2000

/** Reads an actor and its commits, and again while it changes. */
export class ActorFeed {
  actor: Actor
  book = new StepBook()
  /** Status of the stream of its events. */
  status = ''
  stopped = false
  #project
  #source
  #on
  #polling = false
  #pollAgain = false
  #timer = 0
  #unfollow = () => {}

  constructor({ project, actor, source }: { project: string; actor: Actor; source: ActorSource }, on: FeedListener) {
    this.#project = project
    this.actor = actor
    this.#source = source
    this.#on = on
  }

  /** Reads the newest commits, and the names of the actor and its relatives. */
  async start() {
    await Promise.all([this.#name(), this.#readSteps(Math.max(0, this.actor.seq - maxSteps))])
  }

  follow() {
    this.poll()
    this.#unfollow = this.#source.follow({
      last: this.#on.last,
      onEvent: () => {
        this.#on.logged()
        this.poll()
      },
      onStatus: (status) => {
        this.status = status
        this.#on.changed()
      },
      mayRetry: () => this.#isThere(),
    })
  }

  stop() {
    this.stopped = true
    clearTimeout(this.#timer)
    this.#unfollow()
  }

  /** Reads the state now or after the current read, and again after a while. */
  poll() {
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
    if (this.stopped) return
    if (this.#pollAgain) this.poll()
    else this.#timer = setTimeout(() => whenVisible(() => this.poll()), maxPollMs)
  }

  /** Reads the current state. @returns whether reading it again makes sense */
  async #isThere(): Promise<boolean> {
    try {
      this.actor = await this.#source.actor()
      if (this.actor.seq > this.book.last) await this.#readSteps(this.book.last)
      // it has moved on since it was read
      if (this.book.last > this.actor.seq) this.#pollAgain = true
      if (this.actor.last_sequence > this.#on.last()) this.#on.logged()
      await this.#name()
      if (!this.stopped) this.#on.changed()
      this.#on.report(null)
      return !this.stopped
    } catch (error) {
      if (this.stopped) return false
      this.#on.report(error)
      const gone = error instanceof ApiError && (error.status === 404 || error.status === 401)
      if (gone) this.stop()
      return !gone
    }
  }

  /** Reads the commits after this one, to the newest. */
  async #readSteps(from: number) {
    for (let after = from, more = true; more && !this.stopped; ) {
      const { data, last_seq } = await this.#source.steps(after, stepPage)
      const fresh = this.book.add(data)
      after = data.at(-1)?.seq ?? last_seq
      more = data.length > 0 && after < last_seq
      if (fresh.length > 0) this.#on.stepped(fresh)
    }
  }

  async #name() {
    if (this.#source.live) await withNames(this.#project, [this.actor.id, this.actor.related])
  }
}

const whenVisible = (act: () => void) => {
  if (document.visibilityState === 'visible') act()
  else document.addEventListener('visibilitychange', act, { once: true })
}
