import type { ProjectDirectory } from '../actors/accounts/project-directory.ts'
import type { Clock } from '../actors/runtime/index.ts'
import type { RowWriter } from '../actors/runtime/internal.ts'
import type { FanOut, RateLimits, RecordStore } from '../storage/index.ts'
import type { Redaction } from './call/redaction.ts'
import { LogSettings } from './ledger/log-settings.ts'
import type { RequestLedger } from './ledger/request-ledger.ts'
import { type LoggedAnswers, requestLogUseCases } from './ledger/request-log-use-cases.ts'
import { LimitAdmission } from './limits/limit-admission.ts'
import { LimitCache } from './limits/limit-cache.ts'
import { type LimitSubjects, limitUseCases } from './limits/limit-use-cases.ts'

export interface MeteringParts {
  readonly records: RecordStore
  readonly ledger: RequestLedger
  readonly redaction: Pick<Redaction, 'forLog'>
  readonly limits: RateLimits
  readonly answers: LoggedAnswers
  readonly projects: Pick<ProjectDirectory, 'settings'>
  /** Checks the subjects for which limits are set. */
  readonly subjects: LimitSubjects
  readonly fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined
  readonly clock: Clock
}

/** Limits for calls, and the use-cases of limits and the request log. */
export interface Metering {
  readonly admission: LimitAdmission
  /** The use-cases of limits and the request log. @param rows the writer of the rows that are derived after answers. */
  useCases(rows: Rows): ReturnType<typeof limitUseCases> & ReturnType<typeof requestLogUseCases>
}

type Rows = Pick<RowWriter, 'alongside' | 'shown'>

/** Starts the ledger so that budgets count a call before its usage row is written. */
export const openMetering = (parts: MeteringParts): Metering => {
  const { records, ledger, redaction, limits, answers, projects, subjects, fanOut, clock } = parts
  const { now } = clock
  const settings = new LogSettings(records, now)
  const book = new LimitCache({ records, projects, fanOut, now })
  const admission = new LimitAdmission({ records, book, limits, clock })
  ledger.start({
    settings,
    redaction,
    beforeWrite: () => admission.flush(),
  })
  return {
    admission,
    useCases: (rows) => {
      // readers on other nodes must see the calls that this node has acknowledged
      rows.alongside(() => ledger.flush())
      return {
        ...limitUseCases({ records, book, projects, subjects, now }),
        ...requestLogUseCases({ records, rows, settings, answers, now }),
      }
    },
  }
}
