import { projectScope } from '#storage/index.ts'
import type { EffectCatalog, IdempotentEffect } from '../runtime/index.ts'
import { type EraseParts, type EraserHost, eraseActor, eraseListed } from '../runtime/internal.ts'
import { actionRows } from '../sessions/kinds.ts'
import { type RunToolParts, runRunTool } from '../sessions/tools/run-tool.ts'
import { type CallModelParts, callRunModel } from '../sessions/turns/call-model.ts'
import { type PickParts, pickRuns } from './pick-runs.ts'
import { type ChildParts, prepareChild } from './prepare-child.ts'

/** Dependencies of the effects of runs and their queues. */
export interface RunEffectParts extends CallModelParts, RunToolParts, ChildParts, PickParts, EraseParts {
  readonly host: EraserHost & PickParts['host']
}

/** The effects of run and queue machines, by `<machine>.<name>`. */
export const runEffects = (parts: RunEffectParts): EffectCatalog => ({
  'run.callModel': callRunModel(parts),
  'run.runTool': runRunTool(parts),
  'run.prepareChild': prepareChild(parts),
  'run.eraseRun': eraseRun(parts),
  'run_queue.pickRuns': pickRuns(parts),
})

/** Removes the log and all actions of a deleted run, including resolved actions. */
const eraseRun = (parts: RunEffectParts): IdempotentEffect =>
  eraseActor(parts, async ({ actor, owner }) => {
    await eraseListed(parts, { rows: actionRows, scope: projectScope(owner.project), where: { run_id: actor } })
    await parts.conversations.forget(actor, owner)
  })
