import type { TransferService } from '../../../../domain/transfer/transfer-service.js';
import type { Route } from '../../route.js';
import { exportRecordsRoute } from './export-records.js';
import { importRecordsRoute } from './import-records.js';

/** Projects that move from one installation to another. */
export function transferRoutes(transfer: TransferService): Route[] {
  return [exportRecordsRoute(transfer), importRecordsRoute(transfer)];
}
