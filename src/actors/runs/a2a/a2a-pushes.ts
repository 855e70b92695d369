import type { Call } from '#actors/call/call.ts'
import { requireReachable } from '#actors/capability/reachable-url.ts'
import type { Services } from '#actors/capability/services.ts'
import type { WebhookNotice } from '#actors/webhooks/notify.ts'
import type { Receiver, ReceiverSource, SentMessage } from '#actors/webhooks/receivers.ts'
import { webhookHeaders } from '#outgoing/webhook-signature.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { projectScope } from '#storage/index.ts'
import {
  type PushConfig,
  type PushConfigData,
  type PushSecrets,
  pushConfigAad,
  pushConfigs,
  pushRecordId,
} from './a2a-push-config.ts'
import { noticedTask } from './a2a-task.ts'

/** Dependencies of `A2aPushes`. */
export interface A2aPushesParts extends Pick<Services, 'box' | 'now' | 'records'> {
  readonly guard: Pick<Services['guard'], 'check'>
}

type Scoped = Pick<Call<unknown, unknown, unknown>, 'scope'>

/** A task, and the context that its sender chose. */
interface TaskPlace {
  readonly run: string
  readonly context: string
}

/** Most configs of a task: each of its updates is sent to all of them. */
const maxConfigs = 10
/** Configs are kept for 30 days. */
const keptMs = 30 * 24 * 60 * 60 * 1000
const tokenHeader = 'x-a2a-notification-token'

/** Addresses to which the updates of tasks are sent, through the deliveries of webhooks. */
export class A2aPushes implements ReceiverSource {
  readonly #parts: A2aPushesParts
  readonly #table: Table<PushConfigData>

  constructor(parts: A2aPushesParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, pushConfigs, parts.now)
  }

  /** Checks what `set` checks, before a task begins. @throws {ServiceError} `invalid_field` */
  require({ url, place }: PushConfig): void {
    requireReachable(this.#parts.guard, url, `${place}.url`)
  }

  /** Sets a config, and replaces the one with its id. @throws {ServiceError} `invalid_field` */
  async set(call: Call<unknown, unknown, unknown>, { run, context }: TaskPlace, config: PushConfig) {
    this.require(config)
    const { scope } = call
    const { box, now } = this.#parts
    const { url, secrets, place } = config
    const config_id = config.id ?? newIdFor(call, 'pnc')
    const id = pushRecordId(run, config_id)
    const before = await this.#table.list(scope, { where: { run_id: run }, limit: maxConfigs })
    const row = before.find((each) => each.id === id)
    if (row === undefined && before.length >= maxConfigs)
      throw invalidField(place, `A task has at most ${maxConfigs} configs.`)
    const sealed = box.seal(JSON.stringify(secrets), pushConfigAad(scope.project, id))
    const data = { run_id: run, config_id, context_id: context, url, scheme: secrets.scheme ?? null, sealed }
    const { project, tenant, user } = scope
    if (row === undefined) await this.#table.insert({ id, project, tenant, user, data, expiresAtMs: now() + keptMs })
    else await this.#table.change(scope, id, { edit: () => data })
    return data
  }

  async find({ scope }: Scoped, run: string, config: string): Promise<PushConfigData> {
    const row = await this.#table.get(scope, pushRecordId(run, config))
    if (row === null) throw noConfig()
    return row.data
  }

  async list({ scope }: Scoped, run: string): Promise<readonly PushConfigData[]> {
    return (await this.#table.list(scope, { where: { run_id: run }, limit: maxConfigs })).map(({ data }) => data)
  }

  async remove({ scope }: Scoped, run: string, config: string): Promise<void> {
    if (!(await this.#table.remove(scope, pushRecordId(run, config)))) throw noConfig()
  }

  async wanting({ project, event_type, at, data }: WebhookNotice) {
    const { run_id } = data
    // a task that waits for a slot is what the response to its message says
    if (typeof run_id !== 'string' || !event_type.startsWith('run.') || event_type === 'run.queued') return []
    const rows = await this.#table.list(projectScope(project), { where: { run_id }, limit: maxConfigs })
    return rows.map(({ id, data: { context_id } }) => ({
      id,
      body: JSON.stringify({ task: noticedTask({ data, at }, run_id, context_id) }),
    }))
  }

  async get(project: string, id: string): Promise<Receiver | null> {
    const row = await this.#table.get(projectScope(project), id)
    if (row === null) return null
    const secrets: PushSecrets = JSON.parse(this.#parts.box.open(row.data.sealed, pushConfigAad(project, id)))
    return {
      url: row.data.url,
      isActive: true,
      secretHeaders: ['authorization', tokenHeader],
      headers: (message) => headersOf(secrets, message),
      noted: async ({ status }) => status !== 410 || this.#gone(row),
    }
  }

  /** Removes a config whose address is gone. @returns whether it was replaced by one with another address since */
  async #gone({ project, id, data: { url } }: Row<PushConfigData>): Promise<boolean> {
    const now = await this.#table.get(projectScope(project), id)
    if (now !== null && now.data.url !== url) return true
    await this.#table.remove(projectScope(project), id)
    return false
  }
}

const noConfig = (): ServiceError => {
  const extra = { reason: 'TASK_NOT_FOUND' }
  return new ServiceError('not_found', { param: 'config_id', message: 'The task has no such config.', extra })
}

/** The token also signs the request, so that a receiver who knows it can check the body. */
const headersOf = ({ token, scheme, credentials }: PushSecrets, message: SentMessage) => {
  const signed = webhookHeaders(token === undefined ? [] : Buffer.from(token).toString('base64'), message)
  const { 'webhook-signature': signature, ...named } = signed
  return {
    ...named,
    ...(token !== undefined && { [tokenHeader]: token, 'webhook-signature': signature }),
    ...(scheme !== undefined && credentials !== undefined && { authorization: `${scheme} ${credentials}` }),
  }
}
