import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxWebhooks } from '#specs/resources/webhooks.ts'
import { projectScope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import { requireReachable } from '../capability/reachable-url.ts'
import type { Services } from '../capability/services.ts'
import type { Caller } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { CountedLimits } from '../records/counted-limits.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { rotatedSecrets, type SealedBy } from '../records/sealing/rotated-secrets.ts'
import { newSigningSecret } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { secretsOf, type WebhookData, webhookSecretAad, webhooks } from './kinds.ts'
import type { WebhookEndpoints } from './webhook-endpoints.ts'

export interface WebhookParts extends Pick<Services, 'box' | 'now' | 'records'> {
  readonly guard: Pick<SsrfGuard, 'check'>
  readonly endpoints: Pick<WebhookEndpoints, 'forget'>
}

type WebhookUseCases = Omit<Pick<UseCases, Extract<keyof UseCases, `webhooks.${string}`>>, 'webhooks.test'>
type Where = { readonly project: string; readonly id: string }

/** Use-cases of webhooks. The secret is only returned by the requests that create or rotate it. */
export const webhookUseCases = (parts: WebhookParts): WebhookUseCases => {
  const { box, guard, now } = parts
  const table = new Table(parts.records, webhooks, now)
  const viewOf = (row: Row<WebhookData>) => webhookView(row, now())
  const resource = new RecordResource({ table, idPrefix: 'whk', view: viewOf })
  const changed = async <T>(project: string, work: Promise<T>): Promise<T> => {
    const result = await work
    parts.endpoints.forget(project)
    return result
  }
  const sealed = (where: Where, secret: string): string => box.seal(secret, webhookSecretAad(where))
  return {
    'webhooks.list': ({ scope, query }) => resource.list(scope, query),
    'webhooks.get': ({ scope, params }) => resource.get(scope, params.webhook_id),
    'webhooks.create': async (call) => {
      const { scope, body } = call
      requireReachable(guard, body.url)
      const where = { project: scope.project, id: newIdFor(call, 'whk') }
      const secret = newSigningSecret()
      const { name, url, is_active } = body
      const events = [...new Set(body.events)]
      const data = { name, url, events, is_active, ...sound, secret: sealed(where, secret), ...noPrevious }
      const notices = [audited(call).line('created', where.id)]
      const insert = () => changed(scope.project, table.insert({ ...where, data, notices }))
      const made = (await table.get(scope, where.id)) === null ? await withinLimit(parts, where, insert) : null
      // The request is repeated after a crash. Its first secret was never returned to the caller, so it is replaced.
      const row =
        made ?? (await table.change(scope, where.id, { edit: (old) => ({ ...old.data, secret: data.secret }) }))
      return { ...viewOf(orNotFound(row)), secret }
    },
    'webhooks.update': async (call) => {
      const { scope, params, body } = call
      if (body.url !== undefined) requireReachable(guard, body.url)
      const edit = ({ data }: Row<WebhookData>) => withChange(data, body)
      return changed(
        scope.project,
        resource.change(scope, params.webhook_id, { edit, notices: audited(call).changed() }),
      )
    },
    'webhooks.delete': (call) => {
      const { scope, params } = call
      return changed(scope.project, resource.remove(scope, params.webhook_id, audited(call).removed()))
    },
    'webhooks.rotate': async (call) => {
      const { scope, params, body } = call
      const cause = call.idempotency?.cause ?? null
      const untilMs = now() + (body?.grace_s ?? 0) * 1000
      const edit = (row: Row<WebhookData>) => afterRotation(row, { cause, untilMs, box, now: now() })
      const rotated = table.change(scope, params.webhook_id, {
        edit,
        notices: ({ id }) => [audited(call).line('rotated', id)],
      })
      const row = orNotFound(await changed(scope.project, rotated))
      return { ...viewOf(row), secret: box.open(row.data.secret, webhookSecretAad(row)) }
    },
  }
}

/** @throws {ServiceError} `webhook_limit_reached` */
const withinLimit = <T>({ records }: WebhookParts, { project }: Where, create: () => Promise<T>): Promise<T> => {
  const limit = {
    max: maxWebhooks,
    count: () => records.count(webhooks, projectScope(project)),
    full: () => new ServiceError('webhook_limit_reached'),
  }
  return CountedLimits.at(records).within(`webhooks ${project}`, limit, create)
}

type Rotating = Omit<SealedBy, 'aad'> & { readonly cause: string | null; readonly untilMs: number }

const afterRotation = (row: Row<WebhookData>, { cause, untilMs, box, now }: Rotating): WebhookData => {
  const made = rotatedSecrets(secretsOf(row.data), untilMs, { box, now, aad: webhookSecretAad(row) })
  // of a request that is repeated after a crash, the receiver has still the secrets before
  const isAgain = cause !== null && row.data.rotated_by === cause
  const previous = isAgain ? {} : { previous_secret: made.previous, previous_until_ms: made.untilMs }
  return { ...row.data, ...previous, secret: made.secret, rotated_by: cause }
}

const audited = (caller: Caller) => new Audited(caller, 'webhook')

const sound = { disabled_reason: null, failing_since_ms: null }
const noPrevious = { previous_secret: null, previous_until_ms: null }

/** Applies an update. Activating a webhook, or changing its URL, also resets its record of failures. */
const withChange = (data: WebhookData, body: Partial<WebhookData>): WebhookData => ({
  ...data,
  ...body,
  ...(body.events !== undefined && { events: [...new Set(body.events)] }),
  ...(body.is_active === true || body.url !== undefined ? sound : {}),
})

const webhookView = (row: Row<WebhookData>, now: number) => {
  const { name, url, events, is_active, disabled_reason, failing_since_ms, previous_until_ms } = row.data
  return {
    id: row.id,
    name,
    url,
    events,
    is_active,
    disabled_reason,
    failing_since: timestampOrNull(failing_since_ms),
    previous_secret_expires_at: timestampOrNull(
      previous_until_ms !== null && previous_until_ms > now ? previous_until_ms : null,
    ),
    ...rowTimes(row),
  }
}
