/** The owner of bytes that are read. */
export interface ParseOwner {
  readonly project: string
  readonly tenant: string | null
}

/** Path of an owner in a semaphore: projects take turns, and within a project its tenants. */
export const ownerPath = ({ project, tenant }: ParseOwner): readonly string[] => [project, tenant ?? '']
