import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

describe('a file that hangs', function () {
  this.timeout(500);
  it('passes', () => {
    const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync(process.env['RUNNER_PID_FILE'] ?? '', String(pid));
  });
  it('hangs', () => {
    for (;;);
  });
});
