import type { JsonObject, LogEvent } from '#storage/ports.ts'
import { Superseded } from './commit/superseded.ts'
import { Host, type HostOptions } from './host.ts'
import { newId } from './ids.ts'
import { loadMade } from './recovery/made-actors.ts'
import type { Creation, Delivered, Delivery, Resident } from './resident.ts'

/** Host for the only process of a store: it runs every actor, without any cluster code in its path. */
export class LocalHost extends Host {
  readonly newActorId = newId
  readonly #making

  constructor(options: HostOptions) {
    super(options)
    const { definitions, clock } = options
    this.#making = { host: this, definitions, clock }
  }

  create(creation: Creation): Promise<Delivered> {
    return this.createHere(creation)
  }

  deliver(id: string, delivery: Delivery): Promise<Delivered> {
    return this.deliverHere(id, delivery)
  }

  deliverTo(resident: Resident, delivery: Delivery): Promise<Delivered> {
    return resident.dead ? this.deliverHere(resident.id, delivery) : this.deliverToHere(resident, delivery)
  }

  load(id: string): Promise<Resident | null> {
    return this.recovery.underWay(this.ownership.space.of(id)) === undefined
      ? this.loadHere(id)
      : loadMade(this.#making, id)
  }

  question(id: string, question: JsonObject): Promise<JsonObject | null> {
    return this.atWork.answer(id, question)
  }

  delivered(id: string): Promise<void> {
    return this.deliveredHere(id)
  }

  protected rowsElsewhere(): undefined {
    return undefined
  }

  /** Called only after a later process has taken over: until then every actor is here. */
  protected readLogElsewhere(): Promise<readonly LogEvent[]> {
    return Promise.reject(new Superseded('a later process has taken over'))
  }

  /** An actor that is not in memory is idle. */
  protected standingElsewhere(): undefined {
    return undefined
  }

  protected followed(): void {
    // every commit is made here, and reaches the feed directly
  }

  protected committedHere(): void {
    // there are no followers in other processes
  }

  protected showHere(): void {
    // there are no followers in other processes
  }

  protected gaveUp(id: string): void {
    this.feed.end(id, 'lost')
  }
}
