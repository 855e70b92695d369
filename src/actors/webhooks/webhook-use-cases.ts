import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import { requireReachable } from '../capability/reachable-url.ts'
import type { Services } from '../capability/services.ts'
import type { Caller } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { newSigningSecret } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { type WebhookData, webhookSecretAad, webhooks } from './kinds.ts'
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
      const made = await changed(scope.project, table.insert({ ...where, data, notices }))
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
      const secret = newSigningSecret()
      const rotation = {
        previous_until_ms: now() + (body?.grace_s ?? 0) * 1000,
        rotated_by: call.idempotency?.cause ?? null,
      }
      const edit = ({ data, project, id }: Row<WebhookData>) => ({
        ...afterRotation(data, rotation),
        secret: sealed({ project, id }, secret),
      })
      const rotated = table.change(scope, params.webhook_id, {
        edit,
        notices: ({ id }) => [audited(call).line('rotated', id)],
      })
      return { ...viewOf(orNotFound(await changed(scope.project, rotated))), secret }
    },
  }
}

/** The row of a rotation, whose new secret is still missing. */
const afterRotation = (
  data: WebhookData,
  rotation: Pick<WebhookData, 'previous_until_ms' | 'rotated_by'>,
): WebhookData => {
  const { rotated_by } = rotation
  // of a request that is repeated after a crash, the receiver has still the secret before
  const isAgain = rotated_by !== null && data.rotated_by === rotated_by
  return { ...data, ...rotation, previous_secret: isAgain ? data.previous_secret : data.secret }
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
