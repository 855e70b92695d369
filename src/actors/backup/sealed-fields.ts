import { connectionKeyAad, customKeyAad, customProviders, providerConnections } from '../../gateway/routing/kinds.ts'
import type { JsonObject, StoredRecord } from '../../storage/ports.ts'
import { projects } from '../accounts/kinds.ts'
import { newSigningSecret, type SecretBox, signingAad } from '../accounts/project-directory.ts'
import { answerAad, idempotencyKeys, isSealedAnswer } from '../records/idempotent.ts'
import { webhookSecretAad, webhooks } from '../webhooks/kinds.ts'

/** A field of a record's data that the secret box has sealed. A kind that gets one is added here. */
interface SealedField {
  readonly kind: string
  readonly field: string
  readonly isSealed: (value: string) => boolean
  /** What the value was sealed for. */
  readonly aad: (record: StoredRecord) => string
  /** What takes the place of a value that cannot be opened; null: the record is left out. */
  readonly instead: ((box: SecretBox, record: StoredRecord) => string) | null
  /** What the operator is told then. */
  readonly loss: string
}

const webhookLoss = 'the secret that signs requests to a webhook: it gets a new one, which a rotation shows'

/** A key that cannot be opened is none: routing passes its row by until it has another. */
const lostKey = (): string => ''

const sealedFields: readonly SealedField[] = [
  {
    kind: providerConnections.name,
    field: 'api_key',
    isSealed: () => true,
    aad: connectionKeyAad,
    instead: lostKey,
    loss: 'the key of a provider connection: it has to be given again',
  },
  {
    kind: customProviders.name,
    field: 'api_key',
    isSealed: () => true,
    aad: customKeyAad,
    instead: lostKey,
    loss: 'the key of a custom provider: it has to be given again',
  },
  {
    kind: projects.name,
    field: 'signing_secret',
    isSealed: () => true,
    aad: (record) => signingAad(record.id),
    instead: (box, record) => box.seal(newSigningSecret(), signingAad(record.id)),
    loss: 'the secret that signs requests to http tools: the project gets a new one',
  },
  {
    kind: idempotencyKeys.name,
    field: 'answer',
    isSealed: isSealedAnswer,
    aad: answerAad,
    instead: null,
    loss: 'a kept answer that shows a secret: its Idempotency-Key is free again',
  },
  {
    kind: webhooks.name,
    field: 'secret',
    isSealed: () => true,
    aad: webhookSecretAad,
    instead: (box, record) => box.seal(newSigningSecret(), webhookSecretAad(record)),
    loss: webhookLoss,
  },
  {
    kind: webhooks.name,
    field: 'previous_secret',
    isSealed: () => true,
    aad: webhookSecretAad,
    instead: (box, record) => box.seal(newSigningSecret(), webhookSecretAad(record)),
    loss: webhookLoss,
  },
]

/** Names of a kind's fields that are sealed. */
export const sealedFieldsOf = (kind: string): readonly string[] =>
  sealedFields.filter((sealed) => sealed.kind === kind).map(({ field }) => field)

/** A record whose secrets were sealed anew. */
export interface Resealed {
  /** null: it cannot be taken along. */
  readonly record: StoredRecord | null
  readonly losses: readonly string[]
}

/** Opens a record's secrets with one box and seals them with the other. */
export const resealed = (kind: string, record: StoredRecord, from: SecretBox, to: SecretBox): Resealed => {
  let now: StoredRecord | null = record
  const losses: string[] = []
  for (const sealed of sealedFields) {
    const value = now?.data[sealed.field]
    if (now === null || sealed.kind !== kind || typeof value !== 'string' || !sealed.isSealed(value)) continue
    const opened = attempt(() => from.open(value, sealed.aad(record)))
    if (opened === null) losses.push(sealed.loss)
    const again: string | null =
      opened === null ? (sealed.instead?.(to, record) ?? null) : to.seal(opened, sealed.aad(record))
    now = again === null ? null : withData(now, { [sealed.field]: again })
  }
  return { record: now, losses }
}

/** A record without what differs wherever it is kept: its sealed values, and a project's organisation. */
export const unsealed = (kind: string, record: StoredRecord): StoredRecord => {
  const fields = sealedFieldsOf(kind)
  const bare = withData(record, Object.fromEntries(fields.map((field) => [field, null])))
  return kind === projects.name ? { ...bare, project: '' } : bare
}

const withData = (record: StoredRecord, change: JsonObject): StoredRecord => ({
  ...record,
  data: { ...record.data, ...change },
})

const attempt = (open: () => string): string | null => {
  try {
    return open()
  } catch {
    return null
  }
}
