import { erasureDefinition, erasureSink } from '#machines/erasure/erasure.ts'
import { endUsers } from '#specs/resources/end-users.ts'
import { tenantUsers } from '#specs/resources/tenant-users.ts'
import { tenants as tenantOperations } from '#specs/resources/tenants.ts'
import { capability } from '../capability/capability.ts'
import { erasedCopiesPort } from '../capability/erased-copies.ts'
import { Port } from '../capability/port.ts'
import { endUserUseCases } from './end-user-use-cases.ts'
import { erasureEffects } from './erasure.ts'
import { startErasures } from './erasures.ts'
import { tenantKinds } from './kinds.ts'
import { OwnerEraser } from './owner-eraser.ts'
import { ProjectEraser } from './project-eraser.ts'
import { TenantDirectory } from './tenant-directory.ts'
import { TenantExport } from './tenant-export.ts'
import { tenantUseCases } from './tenant-use-cases.ts'
import { tenantUserUseCases } from './tenant-user-use-cases.ts'

/** Port for the directory of the tenants and users that may be served. */
export const tenantDirectory = new Port<TenantDirectory>('the directory of tenants')

/** Capability `tenants`: a project's tenants, their users, and the export and erasure of both. */
export const tenants = capability({
  name: 'tenants',
  operations: { ...tenantOperations, ...tenantUsers, ...endUsers },
  kinds: tenantKinds,
  machines: [{ definition: erasureDefinition }],
  open: (services) => {
    const directory = new TenantDirectory(services)
    tenantDirectory.give(services, directory)
    const owned = new OwnerEraser(services)
    return {
      useCases: {
        ...tenantUseCases({ ...services, directory, exports: new TenantExport(services) }),
        ...tenantUserUseCases({ ...services, directory, owned }),
        ...endUserUseCases(services),
      },
      effects: erasureEffects({
        ...{ ...services, owned, projects: new ProjectEraser(services) },
        dropped: (erased) => erasedCopiesPort.of(services).drop(erased),
      }),
      sinks: { [erasureSink]: startErasures(services.host) },
    }
  },
})
