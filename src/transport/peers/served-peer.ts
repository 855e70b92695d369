import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Clock } from '../../actors/runtime/clock.ts'
import type { PeerRequest, PeerService } from '../../actors/runtime/peers.ts'
import { failureOf } from './failure.ts'
import { FrameSocket } from './frame-socket.ts'
import { newNonce, proofOf, sameProof } from './handshake.ts'
import { peerLimits } from './peer-limits.ts'
import { greetingIn, type Question, questionIn } from './schema.ts'

/** What the answering side is made of. */
export interface ServedParts {
  readonly key: Uint8Array
  readonly service: PeerService
  readonly clock: Clock
  readonly log: Logger
}

const elsewhere = { kind: 'elsewhere' } as const

/** The answering side of one connection: nothing is heard before the other side has proven that it holds the key. */
export class ServedPeer {
  readonly #parts: ServedParts
  readonly #socket: FrameSocket
  readonly #nonce = newNonce()
  readonly #cancelDeadline: () => void
  readonly #gone: () => void
  #state: 'greeting' | 'trusted' | 'leaving' = 'greeting'
  #open = 0

  /** @param gone called once, when the connection is closed. */
  constructor(socket: Socket, parts: ServedParts, gone: () => void) {
    this.#parts = parts
    this.#gone = gone
    this.#socket = new FrameSocket(socket, parts.clock, {
      frame: (value) => this.#take(value),
      closed: (error) => this.#closed(error),
    })
    this.#cancelDeadline = parts.clock.after(peerLimits.greetingMs, () => this.#socket.cut(new Error('no greeting')))
    this.#socket.send({ nonce: this.#nonce })
  }

  /** Closes as soon as the questions that came are answered; later ones find nobody. */
  leave(): void {
    if (this.#state === 'greeting') this.cut()
    this.#state = 'leaving'
    this.#endWhenDone()
  }

  cut(): void {
    this.#socket.cut()
  }

  #take(value: unknown): void {
    if (this.#state === 'greeting') this.#trust(value)
    else void this.#answer(questionIn(value))
  }

  #trust(value: unknown): void {
    const { nonce, proof } = greetingIn(value)
    const nonces = { server: this.#nonce, client: nonce ?? '' }
    const wanted = proofOf(this.#parts.key, 'client', nonces)
    if (nonce === undefined || !sameProof(proof ?? '', wanted)) throw new Error('a caller without our key')
    this.#cancelDeadline()
    this.#state = 'trusted'
    this.#socket.trust()
    this.#socket.send({ proof: proofOf(this.#parts.key, 'server', nonces) })
  }

  async #answer({ id, request }: Question): Promise<void> {
    this.#open++
    const reply = await this.#replyTo(request)
    this.#open--
    if (!this.#socket.send({ id, ...reply })) {
      this.#parts.log.error({ kind: request?.kind }, 'answer larger than peers take')
      this.#socket.send({ id, failure: { unavailable: 'an answer larger than peers take' } })
    }
    // it asks and does not read: it is lost, and asks again if it is not
    if (this.#socket.bufferedBytes > peerLimits.bufferedMaxBytes) this.cut()
    if (this.#state === 'leaving') this.#endWhenDone()
  }

  async #replyTo(request: PeerRequest | null): Promise<object> {
    if (this.#state === 'leaving') return { answer: elsewhere }
    if (request === null) {
      this.#parts.log.warn('a peer asks what this release does not know')
      return { answer: elsewhere }
    }
    if (this.#open > peerLimits.openQuestions) return { failure: { unavailable: 'too many questions' } }
    try {
      return { answer: await this.#parts.service(request) }
    } catch (error) {
      return { failure: this.#failure(request, error) }
    }
  }

  #failure({ kind }: PeerRequest, error: unknown): object {
    const failure = failureOf(error)
    if (failure !== undefined) return failure
    this.#parts.log.error({ kind, err: error }, 'question of a peer failed')
    return { unavailable: 'the peer failed' }
  }

  #endWhenDone(): void {
    if (this.#open === 0) this.#socket.end()
  }

  #closed(error: Error | undefined): void {
    this.#cancelDeadline()
    // somebody who only looks whether anything listens is not worth a line
    if (error !== undefined) this.#parts.log.warn({ err: error }, 'connection of a peer broken off')
    this.#gone()
  }
}
