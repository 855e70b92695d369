import { formKinds } from '../gateway/apis/responses/kinds.ts'
import { ledgerKinds } from '../gateway/ledger/kinds.ts'
import { limitKinds } from '../gateway/limits/kinds.ts'
import { redactionKinds } from '../gateway/redaction/kinds.ts'
import { connectionKinds } from '../gateway/routing/kinds.ts'
import { installations } from './accounts/bootstrap.ts'
import { authKinds } from './accounts/kinds.ts'
import { agentKinds } from './agents/kinds.ts'
import { auditLog } from './audit/kinds.ts'
import { importMarks } from './backup/import-mark.ts'
import { idempotencyKeys } from './records/idempotent.ts'
import type { AnyKind } from './records/schema.ts'
import { runKinds } from './runs/kinds.ts'
import { erasedActors } from './runtime/erased-actors.ts'
import { epochs } from './runtime/runtime.ts'
import { sessionKinds } from './sessions/kinds.ts'
import { tenantKinds } from './tenants/kinds.ts'
import { usageKinds } from './usage/kinds.ts'
import { webhookKinds } from './webhooks/kinds.ts'

/** Every kind of record there is: what a store is prepared for, and what a backup takes along. */
export const kinds: readonly AnyKind[] = [
  ...authKinds,
  ...sessionKinds,
  ...agentKinds,
  ...runKinds,
  ...webhookKinds,
  ...usageKinds,
  ...ledgerKinds,
  ...limitKinds,
  ...connectionKinds,
  ...redactionKinds,
  ...formKinds,
  ...tenantKinds,
  installations,
  epochs,
  erasedActors,
  idempotencyKeys,
  importMarks,
  auditLog,
]
