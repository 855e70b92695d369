import { openMemoryStorage } from '../../src/storage/memory/open-memory-storage.ts'
import { storageContract } from './contract.ts'

storageContract('memory', (now) => openMemoryStorage({ now }))
