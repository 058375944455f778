describe('a file that ends its process', () => {
  it('passes', () => undefined);
  it('ends', () => process.kill(process.pid, 'SIGSEGV'));
});
