import type { EstatePart } from './estate-part.ts'

/** The estate of operators. */
export const operators: EstatePart = {
  make: async () => ({ task_id: 'compaction' }),
  // work is stuck only after a failure
  absent: { stuck_id: 'stk' },
  common: ['task_id'],
  changing: ['live_actors.list', 'project_sessions.list'],
}
