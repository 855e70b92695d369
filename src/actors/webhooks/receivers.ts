import type { Services } from '../capability/services.ts'
import type { WebhookNotice } from './notify.ts'
import type { AttemptOutcome } from './send-attempt.ts'

/** What an attempt sends. */
export interface SentMessage {
  /** Identifies the event in all its attempts. */
  readonly id: string
  readonly timestampS: number
  readonly body: string
}

/** An address that gets deliveries. */
export interface Receiver {
  readonly url: string
  readonly isActive: boolean
  /** Headers of one attempt. */
  headers(message: SentMessage): Readonly<Record<string, string>>
  /** Names of the headers that the log of attempts masks. */
  readonly secretHeaders?: readonly string[]
  /** Records how the address responded. @returns whether a further attempt can succeed */
  noted(outcome: AttemptOutcome): Promise<boolean>
}

/** Receivers of a project beside its webhooks, and what they get. */
export interface ReceiverSource {
  /** The receivers of a notice, with the body that each gets. @throws {StoreUnavailable} */
  wanting(notice: WebhookNotice): Promise<readonly { readonly id: string; readonly body: string }[]>
  /** Returns a receiver; null for an id that is not of this source, or was removed. @throws {StoreUnavailable} */
  get(project: string, id: string): Promise<Receiver | null>
}

const given = new WeakMap<Services, ReceiverSource[]>()

/** Registry of the sources that capabilities offer. Read it at each delivery: a capability may open later. */
export const receiverSources = {
  give(services: Services, source: ReceiverSource): void {
    given.set(services, [...receiverSources.of(services), source])
  },
  of: (services: Services): readonly ReceiverSource[] => given.get(services) ?? [],
}
