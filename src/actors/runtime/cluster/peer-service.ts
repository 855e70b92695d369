import type { MachineDefinition } from '#machines/definition.ts'
import type { Commit } from '#storage/ports.ts'
import { Superseded } from '../commit/superseded.ts'
import type { Host } from '../host.ts'
import type { PeerAnswer, PeerRequest, PeerService } from '../messages/peers.ts'
import type { Delivered, Resident } from '../resident.ts'
import type { RemoteFollowers } from './remote-followers.ts'

/** Dependencies of `peerService`. */
export interface PeerServiceParts {
  readonly host: Host
  readonly definitions: readonly MachineDefinition[]
  readonly followers: RemoteFollowers
  /**
   * Resolves when an actor that a durable commit requested has been created.
   * @throws {StoreUnavailable} when that takes too long
   */
  readonly made: (actor: string) => Promise<void>
  /** Called when another process wrongly believes that this one holds a shard. */
  readonly doubt: () => void
}

const elsewhere: PeerAnswer = { kind: 'elsewhere' }
const done: PeerAnswer = { kind: 'done' }

/** Creates the service that carries out requests of other processes for actors that run here. */
export const peerService = (parts: PeerServiceParts): PeerService => {
  const answer = async (request: PeerRequest, signal: AbortSignal | undefined): Promise<PeerAnswer> => {
    const { host, followers } = parts
    switch (request.kind) {
      case 'rows':
        await host.recovery.rows()
        await host.rows.shownHere()
        return done
      case 'follow': {
        const here = request.actors.filter((actor) => isHeld(host, actor))
        for (const actor of here) followers.add(actor, request.follower)
        return here.length === request.actors.length ? done : elsewhere
      }
      case 'question': {
        const { actor, question } = request
        return isHeld(host, actor) ? { kind: 'said', said: await host.atWork.answer(actor, question) } : elsewhere
      }
      case 'task':
        return { kind: 'said', said: await host.placed.answer(request, signal) }
      case 'delivered':
        if (!isHeld(host, request.actor)) return elsewhere
        await parts.made(request.actor)
        await host.deliveredHere(request.actor)
        return done
      case 'deliver': {
        const { actor, delivery, follower } = request
        if (!isHeld(host, actor)) return elsewhere
        if (follower !== undefined) followers.add(actor, follower)
        return deliveryAnswer(
          await host.deliverHere(actor, delivery),
          follower === undefined ? undefined : host.resident(actor),
        )
      }
      case 'create': {
        const { kind: _, actor, machine, ...made } = request
        if (!isHeld(host, actor)) return elsewhere
        const kind = parts.definitions.find(({ name }) => name === machine)
        if (kind === undefined) throw host.refuse({ code: 'not_found' })
        const created = await host.createHere({ kind, id: actor, ...made })
        // the sender's lists include the actor as soon as its creation is answered
        await host.rows.writtenOf(actor)
        return deliveryAnswer(created)
      }
    }
  }
  return async (request, signal) => {
    try {
      const answered = await answer(request, signal)
      if (answered.kind === 'elsewhere') parts.doubt()
      return answered
    } catch (error) {
      if (!(error instanceof Superseded)) throw error
      parts.doubt()
      return elsewhere
    }
  }
}

const isHeld = (host: Host, actor: string): boolean =>
  host.ownership.heldUnder(host.ownership.space.of(actor)) !== undefined

/**
 * Builds the answer to a delivery, with only the parts of the commit that callers read: its event and what clients see.
 */
const deliveryAnswer = ({ commit, duplicate }: Delivered, followed?: Resident): PeerAnswer => ({
  kind: 'told',
  commit: commit && seen(commit),
  duplicate,
  ...(followed && { standing: { busy: followed.busy, lastSequence: followed.state.lastSequence } }),
})

const seen = ({ snapshot: _, ...commit }: Commit): Commit => ({
  ...commit,
  effects: [],
  messages: [],
  reminders: {},
  in_flight: {},
})
