throw new Error('the reason of the file that cannot be loaded');
