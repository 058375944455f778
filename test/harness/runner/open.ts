import { createServer } from 'node:http';

describe('a file that leaves something open', () => {
  it('listens', () => void createServer().listen(0, '127.0.0.1'));
});
