import { type WebhookData, webhooks } from '#actors/webhooks/kinds.ts'
import { Table } from '#records/table.ts'
import type { Storage } from '#storage/ports.ts'
import type { ClientParts } from '../client.ts'
import { identities } from '../world/identities.ts'
import type { Life } from '../world/life.ts'
import { notifiedProject, type RunSetting, webhookId } from './run-agents.ts'
import { checkRuns, checkRunsExpired, checkUsage, RunWatch } from './run-checks.ts'
import { RunClient } from './run-client.ts'
import { RunRules } from './run-rules.ts'
import { SlotRules } from './slot-rules.ts'

/** Clients that start background runs, more at a time than there are slots. */
export class RunLife implements Life {
  readonly #parts: ClientParts
  readonly #inner: Storage
  readonly #setting: RunSetting
  readonly #watch: RunWatch
  readonly #clients: RunClient[] = []

  constructor(parts: ClientParts, inner: Storage, setting: RunSetting) {
    this.#parts = parts
    this.#inner = inner
    this.#setting = setting
    this.#watch = new RunWatch(parts.ledger)
    new SlotRules(parts.ledger, setting.concurrency)
  }

  async prepare(): Promise<void> {
    if (!this.#setting.notifiesWebhooks) return
    const data: WebhookData = {
      name: 'all',
      url: 'https://example.com/hook',
      events: ['*'],
      is_active: true,
      secret: 'whsec_AAAA',
      disabled_reason: null,
      failing_since_ms: null,
      previous_secret: null,
      previous_until_ms: null,
    }
    const row = { id: webhookId, project: notifiedProject, data }
    await new Table(this.#inner.records, webhooks, this.#parts.scheduler.now).insert(row)
  }

  admit(work: (life: () => Promise<void>) => void): void {
    const { random } = this.#parts
    const keys = identities.filter(({ principal }) => principal.kind === 'secret_key')
    const clients = random.between(2, 3)
    for (let index = 0; index < clients; index++) {
      // most share a project, and thus its slots
      const identity = random.chance(0.85) ? keys[0] : keys[1]
      if (identity === undefined) return
      const client = new RunClient(`c${index}`, identity, this.#parts)
      this.#clients.push(client)
      work(() => this.#liveOf(client))
    }
  }

  async checkCalm(): Promise<void> {
    const { ledger } = this.#parts
    checkRuns(ledger)
    await checkUsage(ledger, this.#inner)
    this.#checkKeyed()
    if (this.#setting.notifiesWebhooks) this.#watch.checkDeliveries()
  }

  checkRest(): Promise<void> {
    return this.checkCalm()
  }

  checkExpired(): void {
    checkRunsExpired(this.#parts.ledger)
  }

  /** Checks that a run requested under a key exists once, however often it was requested. */
  #checkKeyed(): void {
    const { ledger } = this.#parts
    const prompts = new Map<unknown, string[]>()
    for (const [id, { log, events }] of ledger.actors) {
      if (!(log instanceof RunRules)) continue
      const prompt = Object(events[0]?.payload.input).prompt
      prompts.set(prompt, [...(prompts.get(prompt) ?? []), id])
    }
    for (const { token, run } of this.#clients.flatMap(({ keyed }) => keyed)) {
      const made = prompts.get(token) ?? []
      const once = made.every((id) => id === run)
      ledger.expect(once, () => `${token} (${run}) made ${made.join()}`)
    }
  }

  /** The actions of one client: a few runs at a time, once or twice. */
  async #liveOf(client: RunClient): Promise<void> {
    const { random } = this.#parts
    const rounds = random.between(1, 2)
    for (let round = 0; round < rounds; round++) {
      const runs = Array.from({ length: random.between(1, 3) }, () => this.#run(client))
      await Promise.all(runs)
    }
  }

  async #run(client: RunClient): Promise<void> {
    const { random } = this.#parts
    const agent = random.weighted(
      [
        ['agt_lead', 4],
        ['agt_mid', 3],
        ['agt_leaf', 3],
      ],
      'agt_leaf',
    )
    const run = await client.create(agent)
    if (run === null) return
    const followed = random.chance(0.85) ? client.follow(run) : Promise.resolve()
    if (random.chance(0.4)) await this.#meddle(client, run, agent)
    await followed
    if (random.chance(0.1)) await client.read(run)
  }

  /** Something that happens while a run is in progress. */
  async #meddle(client: RunClient, run: string, agent: string): Promise<void> {
    const { random, scheduler } = this.#parts
    await scheduler.pause(random.between(0, random.chance(0.5) ? 400 : 5000))
    const act = random.weighted(
      [
        ['cancel', 3],
        ['delegate', 4],
        ['delete', 1],
        ['read', 2],
      ],
      'read',
    )
    if (act === 'cancel') await client.cancel(run)
    if (act === 'delegate') await client.delegate(run, agent)
    if (act === 'delete') await client.delete(run)
    if (act === 'read') await client.read(run)
  }
}
