import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Kinds of tests in the order in which they run: those whose files are the shortest last, so that no worker is left over. */
const kinds = ['simulation', 'e2e', 'int', 'pure']
/** Long runs of few lines: without results of earlier runs, as on a clean checkout, files are sorted by their size. */
const long = /\/test\/e2e\/sweep\/|\/(link-lists|page-tables|address-probes|secrets)\.test\.ts$/

const rank = ({ project, moduleId }: TestSpecification): number =>
  2 * kinds.indexOf(project.name) + (long.test(moduleId) ? 0 : 1)

/**
 * The order of test files: kinds by the length of their files, where the runner would take them by their names and leave
 * the simulation, whose files take up to 20 s of a processor, to one worker at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
