import type { CommitStore } from '#storage/ports.ts'

/** Returns a commit store whose appends go through `append`; all other calls are passed on. */
export const guardedCommits = (commits: CommitStore, append: CommitStore['append']): CommitStore => ({
  append,
  head: (actor) => commits.head(actor),
  ...(commits.headBeside && { headBeside: commits.headBeside.bind(commits) }),
  at: (actor, seq) => commits.at(actor, seq),
  byCause: (actor, cause) => commits.byCause(actor, cause),
  ofActor: (actor, after, limit) => commits.ofActor(actor, after, limit),
  events: (actor, after, limit) => commits.events(actor, after, limit),
  open: (query) => commits.open(query),
  due: (query) => commits.due(query),
  settle: (work) => commits.settle(work),
  merge: (parts) => commits.merge(parts),
  ofProject: (project, after, limit) => commits.ofProject(project, after, limit),
  actorsOf: (project, tenant, { after, limit }) => commits.actorsOf(project, tenant, { after, limit }),
  forget: (actor) => commits.forget(actor),
})
