import type { EffectCatalog } from '../runtime/effects/effects.ts'
import { type EraseParts, eraseActor } from '../runtime/erasure/erase-actor.ts'
import { type RunToolParts, runRunTool } from '../sessions/tools/run-tool.ts'
import { type CallModelParts, callRunModel } from '../sessions/turns/call-model.ts'
import { type PickParts, pickRuns } from './pick-runs.ts'
import { type ChildParts, prepareChild } from './prepare-child.ts'

/** Dependencies of the effects of runs and their queues. */
export interface RunEffectParts extends CallModelParts, RunToolParts, ChildParts, PickParts, EraseParts {}

/** The effects of run and queue machines, by `<machine>.<name>`. */
export const runEffects = (parts: RunEffectParts): EffectCatalog => ({
  'run.callModel': callRunModel(parts),
  'run.runTool': runRunTool(parts),
  'run.prepareChild': prepareChild(parts),
  'run.eraseRun': eraseActor(parts, ({ actor, owner }) => parts.conversations.forget(actor, owner)),
  'run_queue.pickRuns': pickRuns(parts),
})
